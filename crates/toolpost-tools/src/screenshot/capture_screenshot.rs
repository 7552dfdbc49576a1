//! `capture_screenshot`: a picture of the screen, written to a file of the workspace.

use super::Settings;
use super::command::{Format, Line, Mode, line};
use crate::filesystem::media_type;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use toolpost_core::access::ResourceKind;
use toolpost_core::capability::Need;
use toolpost_core::{Access, Capability, Code, Context, Output, Spec, Tool, ToolError, WorkspacePath};
use toolpost_process::{Capture, Command, Error, Exit, Limits, Output as Pipes};

/// Maximum number of bytes of a picture.
const MAX_BYTES: u64 = 64 << 20;
/// How long a program may take; a person may have to choose.
const LONGEST: Duration = Duration::from_secs(60);

/// What the model may ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Args {
    /// File to write; otherwise a new one in `screenshots/`.
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    output_path: Option<WorkspacePath>,
    /// interactive: the user chooses a part.
    #[serde(default)]
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    mode: Mode,
    /// Kind of file.
    #[serde(default)]
    #[schemars(extend("x-toolpost-empty" = "absent"))]
    format: Format,
}

/// What a program gets beside the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// Whether there is a picture.
    ok: bool,
    /// The file.
    output_path: String,
    /// What it shows.
    mode: Mode,
    /// How it is written.
    format: Format,
    /// Its size in bytes.
    bytes: usize,
}

/// The tool.
pub struct CaptureScreenshot {
    settings: Settings,
}

impl CaptureScreenshot {
    pub(super) fn new(settings: Settings) -> CaptureScreenshot {
        CaptureScreenshot { settings }
    }
}

impl Tool for CaptureScreenshot {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> Spec {
        Spec::new("capture_screenshot", "1.0.0", include_str!("capture_screenshot.txt"))
            .requires(Capability::Write)
            .about(ResourceKind::Path)
            .needs(Need::Model)
            .timeout(LONGEST + Duration::from_secs(10), LONGEST + Duration::from_secs(10))
            .own_dry_run()
    }

    fn accesses(&self, args: &Args, _: Vec<Access>) -> Vec<Access> {
        // The file that is made where none is named has a name of its own in this folder.
        let path = args.output_path.as_ref().map_or("screenshots", WorkspacePath::as_str);
        vec![Access::path(Capability::Write, path).with_consent()]
    }

    fn facts(&self, _: &Context, _: &Args) -> Vec<String> {
        vec!["the model will see what is on your screen now".to_owned()]
    }

    async fn call(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let platform = self.settings.platform.ok_or_else(|| {
            let message = "there is no screen: neither WAYLAND_DISPLAY nor DISPLAY is set";
            ToolError::new(Code::ExecutionError, message)
        })?;
        let unsupported = |why: &str| ToolError::new(Code::ExecutionError, why);
        let line = line(platform, args.mode, args.format).map_err(unsupported)?;
        let bytes = self.picture(line).await?;
        let is_picture = matches!(media_type(&bytes), Some("image/png" | "image/jpeg"));
        if !is_picture {
            return Err(ToolError::new(
                Code::ExecutionError,
                "the program wrote no picture; was the choice cancelled?",
            ));
        }
        let path = path(ctx, &args);
        let (name, size) = (path.clone(), bytes.len());
        ctx.blocking(move |ctx| ctx.workspace().write(&path, &bytes)).await?;
        let text = format!("{name} has a picture of the screen ({size} bytes)");
        let data = Data {
            ok: true,
            output_path: name.to_string(),
            mode: args.mode,
            format: args.format,
            bytes: size,
        };
        Ok(Output::new(name.to_string(), text, data))
    }

    async fn dry_run(&self, ctx: &Context, args: Args) -> Result<Output<Data>, ToolError> {
        let name = path(ctx, &args).to_string();
        let text = format!("would take a picture of the screen and write it to {name}");
        let data =
            Data { ok: false, output_path: name.clone(), mode: args.mode, format: args.format, bytes: 0 };
        Ok(Output::new(name, text, data))
    }
}

fn path(ctx: &Context, args: &Args) -> WorkspacePath {
    args.output_path.clone().unwrap_or_else(|| {
        let file = format!("screenshots/{}.{}", ctx.clock().now_ms(), args.format.ending());
        WorkspacePath::new(file)
    })
}

impl CaptureScreenshot {
    async fn picture(&self, line: Line) -> Result<Vec<u8>, ToolError> {
        let mut args = line.args;
        if let Some((chooser, package)) = line.chooser {
            let chosen = self.run(chooser, package, &[]).await?;
            args.push(String::from_utf8_lossy(&chosen).trim().to_owned());
            args.push("-".to_owned());
        }
        self.run(line.program, line.package, &args).await
    }

    /// What a program writes to its output.
    async fn run(&self, program: &str, package: &str, args: &[String]) -> Result<Vec<u8>, ToolError> {
        let failed =
            |why: String| ToolError::new(Code::ExecutionError, format!("`{program}` took no picture: {why}"));
        let limits = Limits { wall: Some(LONGEST), ..Limits::default() };
        let command = Command::new(program, "/").args(args.to_vec()).output(Pipes::Apart);
        let variables = self.settings.environment.iter();
        let command =
            variables.fold(command.limits(limits), |command, (name, value)| command.variable(name, value));
        let mut running = command.start().map_err(|error| match error {
            Error::NotRun { .. } => {
                let message = format!("`{program}` is not installed; install the package {package}");
                ToolError::new(Code::ExecutionError, message)
            }
            error => failed(error.to_string()),
        })?;
        let stdout = running.take_stdout();
        let reading = async {
            let mut bytes = Vec::new();
            if let Some(stdout) = stdout {
                let _ = stdout.take(MAX_BYTES).read_to_end(&mut bytes).await;
            }
            bytes
        };
        let mut errors = Capture::new(4096, 0);
        let (bytes, ended) = tokio::join!(reading, running.collect(&mut errors, |_| ()));
        let (errors, _, _) = errors.finish();
        let ended = match ended {
            Err(Error::NotRun { .. }) => {
                let message = format!("`{program}` is not installed; install the package {package}");
                return Err(ToolError::new(Code::ExecutionError, message));
            }
            ended => ended.map_err(|error| failed(error.to_string()))?,
        };
        let said = String::from_utf8_lossy(&errors.head).trim().to_owned();
        match ended.exit {
            Exit::Code(0) => Ok(bytes),
            Exit::Code(code) => Err(failed(format!("it ended with code {code}: {said:.300}"))),
            Exit::Signal(signal) => Err(failed(format!("it was ended by signal {signal}"))),
        }
    }
}
