//! The example for LangChain, as its README says to run it.

use crate::installed::{Wanted, pip};
use crate::{Home, Ran, project};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

pub(crate) const ADAPTER: Wanted =
    Wanted { folder: "langchain", packages: &["langchain-mcp-adapters==0.3.2"] };

/// Models of two providers, whose `bind_tools` turn declarations into what they send.
const MODELS: Wanted = Wanted {
    folder: "langchain-models",
    packages: &["langchain-openai==1.7.3", "langchain-anthropic==1.7.7"],
};

/// Binds what was exported to a model of each provider, and prints the arguments that each model would be told of.
const BIND: &str = r#"
import json, sys
from langchain_openai import ChatOpenAI
from langchain_anthropic import ChatAnthropic

tools = json.load(open(sys.argv[1]))
openai = ChatOpenAI(model="m", api_key="k").bind_tools(tools).kwargs["tools"]
anthropic = ChatAnthropic(model="claude-m", api_key="k").bind_tools(tools).kwargs["tools"]
print(json.dumps({
    "openai": {tool["function"]["name"]: tool["function"]["parameters"] for tool in openai},
    "anthropic": {tool["name"]: tool["input_schema"] for tool in anthropic},
}))
"#;

#[test]
fn what_is_exported_for_langchain_is_what_bind_tools_takes() {
    let home = Home::new();
    let exported = home.run(&["tools", "export", "--format", "langchain", "--policy", "privileged"]);
    assert_eq!(exported.status, 0, "{}", exported.stderr);
    home.write("tools.json", &exported.stdout);
    let mut command = Command::new(pip(&MODELS).join("bin/python"));
    command.args(["-c", BIND]).arg(home.path("tools.json")).env_clear().env("HOME", home.path(""));
    let ran = Ran::of(command.output().unwrap());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let bound: Value = serde_json::from_str(&ran.stdout).unwrap();
    let (_, listed) = home.json(&["tools", "--policy", "privileged"]);
    let tools = listed["tools"].as_array().unwrap();
    assert!(tools.len() >= 12, "{tools:?}");
    for provider in ["openai", "anthropic"] {
        for tool in tools {
            let name = tool["name"].as_str().unwrap();
            let names = |schema: &Value| {
                let all = schema["properties"]
                    .as_object()
                    .unwrap_or_else(|| panic!("{provider}: {name}: {schema}"));
                all.keys().cloned().collect::<Vec<String>>()
            };
            let given = &bound[provider][name];
            assert_eq!(names(given), names(&tool["inputSchema"]), "{provider}: {name}");
            assert_eq!(given["required"], tool["inputSchema"]["required"], "{provider}: {name}");
        }
    }
}

#[test]
fn the_example_for_langchain_prints_what_it_shows() {
    let example = project().join("examples/langchain");
    let read = |name: &str| std::fs::read_to_string(example.join(name)).unwrap();
    assert_eq!(read("requirements.txt").lines().collect::<Vec<_>>(), ADAPTER.packages);
    let home = Home::new();
    let folder = Path::new(env!("CARGO_BIN_EXE_toolpost")).parent().unwrap();
    let mut command = Command::new(pip(&ADAPTER).join("bin/python"));
    command
        .arg(example.join("example.py"))
        .arg(home.path("repo"))
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .env("HOME", home.path(""))
        .current_dir(home.path(""));
    let ran = Ran::of(command.output().unwrap());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("tools: "), "{}", ran.stdout);
    let shown = format!("```text\n{}```", ran.stdout);
    assert!(read("README.md").contains(&shown), "the README does not show this:\n{shown}");
}
