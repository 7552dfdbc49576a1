//! Tools that an agent defines itself: a prompt, answered by a child agent without tools.

use super::{Child, RunModel, TreeHost, branch_of, ending};
use crate::calendar::moment;
use crate::runtime::activate::{Chosen, check_price};
use crate::runtime::{Prepared, Runtime};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use toolpost_agent::AgentFile;
use toolpost_agent::driver::Activation;
use toolpost_agent::kernel::State;
use toolpost_agent::model::Script;
use toolpost_agent::prompt_tool::{filled, input_schema};
use toolpost_agent::tree::{Branch, child_id};
use toolpost_core::activation::{Fact, Limits, Start};
use toolpost_core::dialect::Alias;
use toolpost_core::host::{Ids, SpawnedAgent};
use toolpost_core::tool::{DynamicTool, PromptToolDef};
use toolpost_core::{Code, Context, Output, Registry, Spec, ToolError, dynamic};

/// The limits of the tree end it, and not the time-out of the call.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long it may take to hand over what it has.
const GRACE: Duration = Duration::from_millis(1_500);

impl TreeHost {
    /// A tool that an agent defines, under a name. The same call made again goes on with the same child.
    pub(crate) fn custom_tool(
        self: &Arc<Self>,
        agent: &Arc<AgentFile>,
        tool: &PromptToolDef,
        name: &str,
    ) -> DynamicTool {
        let spec = Spec::new(name, "1.0.0", &tool.description)
            .idempotent()
            .parallel_safe()
            .timeout(LONGEST, LONGEST)
            .grace(GRACE);
        let is_object = |schema: &&Value| schema["type"] == "object";
        let output = tool.result_schema.as_ref().filter(is_object).cloned();
        let input = input_schema(tool);
        let (host, agent, tool) = (Arc::clone(self), Arc::clone(agent), Arc::new(tool.clone()));
        let made = dynamic(spec, input, move |ctx, arguments| {
            let (host, agent, tool) = (Arc::clone(&host), Arc::clone(&agent), Arc::clone(&tool));
            async move { host.answer(&ctx, &agent, &tool, arguments).await }
        });
        match output {
            Some(schema) => made.with_output_schema(schema),
            None => made,
        }
    }

    async fn answer(
        &self,
        ctx: &Context,
        agent: &AgentFile,
        tool: &PromptToolDef,
        arguments: Value,
    ) -> Result<Output<Value>, ToolError> {
        if ctx.is_dry_run() {
            return Ok(Output::new(&tool.name, "would ask a model", Value::Null));
        }
        let child = self.answering(ctx, agent, tool, &arguments).await?;
        let id = child.id.clone();
        let ended = self.finish(ctx, child).await?;
        let name = format!("{}/{}", agent.name, tool.name);
        let SpawnedAgent { text, data, .. } = ending::told(&name, id, ended, tool.result_schema.as_ref())?;
        let text = data.as_ref().map_or(text, Value::to_string);
        Ok(Output::new(&tool.name, text, data.unwrap_or(Value::Null)))
    }

    /// The child that answers: it has the prompt, and no tools.
    async fn answering(
        &self,
        ctx: &Context,
        agent: &AgentFile,
        tool: &PromptToolDef,
        arguments: &Value,
    ) -> Result<Child, ToolError> {
        let runtime = self.runtime()?;
        let id = child_id(ctx.call_id(), 0);
        let above = branch_of(ctx).ok();
        let none = Limits::default();
        let place = match &above {
            Some(above) => Some(above.child_in_turn(&id, &none, ctx.cancel()).await?),
            None => None,
        };
        let branch = match &place {
            Some(place) => place.branch().clone(),
            // Called from outside of every run, it is the first of its tree.
            None => Branch::root(&id, &agent.limits.or(&Limits::usual()), ctx.cancel().child_token()),
        };
        let Chosen { model, redactor, .. } = self.answerer(&runtime, ctx, agent, tool, arguments).await?;
        check_price(&agent.file, model.profile(), branch.has_cost_limit())?;
        let (base, policy) = match &above {
            Some(_) => (&runtime.context, ctx.policy().clone()),
            None => (ctx, agent.policy_within(ctx.policy())),
        };
        let name = format!("{}/{}", agent.name, tool.name);
        let parent = above.as_ref().map(|above| above.id().to_owned());
        let ids = Ids {
            session: ctx.session().to_owned(),
            agent: Some(name.clone()),
            activation: Some(id.clone()),
            parent_activation: parent.clone(),
            ..Ids::default()
        };
        let context = base.rebuild().ids(ids).policy(policy).tools(Arc::new(Registry::new()));
        let context = context.redactor(redactor).cancel(branch.cancel().clone()).build();
        let start = Start {
            agent: name,
            file: Some(runtime.whole_path(&agent.file)),
            parent,
            system: String::new(),
            task: filled(&tool.prompt, arguments),
            model: model.profile().clone(),
            dialect: context.dialect().name().to_owned(),
            limits: branch.limits().clone(),
            workspace: context.workspace().root().to_owned(),
            depth: branch.depth(),
            call: Some(ctx.call_id().to_owned()),
            result_schema: tool.result_schema.clone(),
            file_hash: Some(agent.hash.clone()),
            ..Start::default()
        };
        let (state, interrupted) = self.begun().remove(&id).unzip();
        let goes_on = state.as_ref().is_some_and(|state: &State| state.ended().is_none());
        let facts = interrupted.filter(|_| goes_on).map(|interrupted| Fact::Resumed { interrupted });
        let activation = Activation {
            id,
            start,
            model,
            context,
            executor: runtime.executor.clone(),
            offers_all: false,
            temperature: agent.temperature,
            thinking: agent.thinking,
            listener: self.audience().0,
            branch: branch.clone(),
            state,
        };
        let prepared = Prepared { activation, session: ctx.session().to_owned(), notes: Vec::new() };
        let id = prepared.activation.id.clone();
        let facts = facts.into_iter().collect();
        Ok(Child { id, prepared: Some(prepared), branch, place, kept: None, facts })
    }

    /// Who answers: with a script its own script, else the model that it names, else that of its agent.
    async fn answerer(
        &self,
        runtime: &Runtime,
        ctx: &Context,
        agent: &AgentFile,
        tool: &PromptToolDef,
        arguments: &Value,
    ) -> Result<Chosen, ToolError> {
        let above = ctx.extra().get::<RunModel>().map(|model| Arc::clone(&model.0));
        let for_all = runtime.config.models()?.for_all;
        let is_scripted = match &above {
            Some(model) => model.profile().provider == "script",
            None => for_all.as_deref().is_none_or(|name| name == "script") && agent.script.is_some(),
        };
        let redactor = || (**ctx.redactor()).clone();
        if let (true, Some(script)) = (is_scripted, &tool.script) {
            let parameters: Vec<String> = tool.parameters.iter().map(|one| one.name.clone()).collect();
            let script = Script::of_tool(script, &tool.name, &parameters, arguments).map_err(|error| {
                let message = format!("{}: the tool `{}`: {error}", agent.file, tool.name);
                ToolError::new(Code::ValidationError, message)
            })?;
            let reason = "the agent runs a script".to_owned();
            return Ok(Chosen { model: Arc::new(script), reason, redactor: redactor() });
        }
        let today = moment(ctx.clock().now_ms());
        let today = today.get(..10).unwrap_or_default();
        match (&tool.model, above) {
            (Some(named), _) if for_all.is_none() => {
                let chooser = AgentFile { models: vec![named.clone()], script: None, ..agent.clone() };
                runtime.model_below(&chooser, today, ctx.redactor()).await
            }
            _ if is_scripted => {
                let message = format!(
                    "the agent runs a script, and its tool `{}` has none; add `script` to its definition in {}, or run it with --model",
                    tool.name, agent.file
                );
                Err(ToolError::new(Code::LlmAssistRequired, message))
            }
            (_, Some(model)) => {
                Ok(Chosen { model, reason: "its agent has it".to_owned(), redactor: redactor() })
            }
            (_, None) => runtime.model_below(agent, today, ctx.redactor()).await,
        }
    }
}

/// The first part of the names of an agent's tools for callers outside of it.
pub(crate) fn outside_part(agent: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    agent.chars().map(plain).collect()
}

/// The name of a tool of an agent for callers outside of it: `AGENT__TOOL`; none where that is too long for a name.
pub(crate) fn outside_name(agent: &str, tool: &str) -> Option<String> {
    let name = format!("{}__{tool}", outside_part(agent));
    (name.len() <= 64).then_some(name)
}

impl Runtime {
    /// Offers the tools that an agent defines to callers outside of it. Returns what is to be said of those that cannot be.
    pub(crate) fn offer_custom(&self, agent: &Arc<AgentFile>) -> Vec<String> {
        let mut notes = Vec::new();
        let is_there = |tool: &PromptToolDef| {
            outside_name(&agent.name, &tool.name).is_some_and(|name| self.context.tools().has(&name))
        };
        for tool in agent.prompt_tools.iter().filter(|tool| !is_there(tool)) {
            let offered = outside_name(&agent.name, &tool.name)
                .ok_or_else(|| "its name is too long".to_owned())
                .and_then(|name| {
                    let made = self.host.custom_tool(agent, tool, &name);
                    let tools = self.context.tools();
                    tools.register(made).map_err(|error| error.message().to_owned())?;
                    // As the command line writes it. Where the name is taken, it means something else.
                    let _ = tools.add_alias(Alias::new(format!("{}/{}", agent.name, tool.name), &name));
                    Ok(())
                });
            if let Err(why) = offered {
                notes.push(format!("{}: the tool `{}` is not offered: {why}", agent.file, tool.name));
            }
        }
        notes
    }

    /// Gives an agent the tools that it defines, in place of others of the same names.
    pub(in crate::runtime) fn add_custom(
        &self,
        agent: &AgentFile,
        registry: &Registry,
        notes: &mut Vec<String>,
    ) -> Result<(), ToolError> {
        let agent = Arc::new(agent.clone());
        for tool in &agent.prompt_tools {
            if registry.unregister(&tool.name).is_some() {
                notes.push(format!(
                    "{}: `{}` is the agent's own tool here, in place of the built-in one",
                    agent.file, tool.name
                ));
            }
            registry.register(self.host.custom_tool(&agent, tool, &tool.name))?;
        }
        Ok(())
    }

    /// What is to be said before a run with a limit of cost of the tools that an agent defines: those whose model has no known
    /// price cannot be used in it.
    pub(in crate::runtime) fn unpriced_tools(&self, agent: &AgentFile) -> Result<Vec<String>, ToolError> {
        let settings = self.config.models()?;
        if settings.for_all.is_some() {
            return Ok(Vec::new());
        }
        let today = moment(self.context.clock().now_ms());
        let today = today.get(..10).unwrap_or_default();
        let notes = agent.prompt_tools.iter().filter_map(|tool| {
            let (row, model) = settings.catalog.find(tool.model.as_ref()?).ok()?;
            let error = check_price(&agent.file, &row.profile(&model, today), true).err()?;
            Some(format!("the tool `{}` cannot be used: {}", tool.name, error.message()))
        });
        Ok(notes.collect())
    }
}
