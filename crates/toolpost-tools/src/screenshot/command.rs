//! Which program takes a picture of the screen, and how it is called. Pure: a function of the platform and the arguments.
//!
//! Every program writes the picture to its standard output; the tool writes the file, through the workspace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What shows the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// macOS.
    Mac,
    /// Windows.
    Windows,
    /// Linux and others, with a Wayland compositor.
    Wayland,
    /// Linux and others, with an X server.
    X11,
}

// What the picture shows. Comments on these two would be in the declaration that models pay for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    #[default]
    Screen,
    Interactive,
}

// How the picture is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    #[default]
    Png,
    Jpg,
}

impl Format {
    /// The ending of its files.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Format::Png => "png",
            Format::Jpg => "jpg",
        }
    }
}

/// A program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) program: &'static str,
    pub(super) args: Vec<String>,
    /// The package that has the program.
    pub(super) package: &'static str,
    /// A program that lets the user choose; what it prints is the argument after the last one.
    pub(super) chooser: Option<(&'static str, &'static str)>,
}

/// The program that takes the picture, or why there is none.
pub(super) fn line(platform: Platform, mode: Mode, format: Format) -> Result<Line, &'static str> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let line = |program, package, args| Line { program, args, package, chooser: None };
    let kind = format.ending();
    Ok(match (platform, mode) {
        (Platform::Mac, Mode::Screen) => {
            line("screencapture", "macOS", words(&["-x", "-t", kind, "/dev/stdout"]))
        }
        (Platform::Mac, Mode::Interactive) => {
            line("screencapture", "macOS", words(&["-i", "-x", "-t", kind, "/dev/stdout"]))
        }
        (Platform::X11, Mode::Screen) => {
            line("import", "imagemagick", words(&["-silent", "-window", "root", &format!("{kind}:-")]))
        }
        (Platform::X11, Mode::Interactive) => {
            line("import", "imagemagick", words(&["-silent", &format!("{kind}:-")]))
        }
        (Platform::Wayland, mode) => {
            let kind = if format == Format::Jpg { "jpeg" } else { kind };
            let shot = line("grim", "grim", words(&["-t", kind]));
            match mode {
                Mode::Screen => Line { args: words(&["-t", kind, "-"]), ..shot },
                Mode::Interactive => {
                    Line { args: words(&["-t", kind, "-g"]), chooser: Some(("slurp", "slurp")), ..shot }
                }
            }
        }
        (Platform::Windows, Mode::Screen) => {
            let kind = if format == Format::Jpg { "Jpeg" } else { "Png" };
            let script = format!(
                "Add-Type -AssemblyName System.Windows.Forms,System.Drawing; \
                 $b = [System.Windows.Forms.SystemInformation]::VirtualScreen; \
                 $i = New-Object System.Drawing.Bitmap $b.Width, $b.Height; \
                 $g = [System.Drawing.Graphics]::FromImage($i); $g.CopyFromScreen($b.Location, [System.Drawing.Point]::Empty, $b.Size); \
                 $m = New-Object System.IO.MemoryStream; $i.Save($m, [System.Drawing.Imaging.ImageFormat]::{kind}); \
                 $o = [Console]::OpenStandardOutput(); $m.WriteTo($o); $o.Flush()"
            );
            line("powershell", "Windows", words(&["-NoProfile", "-NonInteractive", "-Command", &script]))
        }
        (Platform::Windows, Mode::Interactive) => {
            return Err("on Windows there is no program that lets the user choose a part; use mode=screen");
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(platform: Platform, mode: Mode, format: Format, expected: &str) {
        let shown = match line(platform, mode, format) {
            Ok(line) => format!("{} {}", line.program, line.args.join(" ")),
            Err(why) => why.to_owned(),
        };
        assert!(shown.contains(expected), "{shown}");
    }

    #[test]
    fn each_platform_has_its_program() {
        check(Platform::Mac, Mode::Screen, Format::Png, "screencapture -x -t png /dev/stdout");
        check(Platform::Mac, Mode::Interactive, Format::Jpg, "screencapture -i -x -t jpg /dev/stdout");
        check(Platform::X11, Mode::Screen, Format::Png, "import -silent -window root png:-");
        check(Platform::X11, Mode::Interactive, Format::Jpg, "import -silent jpg:-");
        check(Platform::Wayland, Mode::Screen, Format::Png, "grim -t png -");
        check(Platform::Wayland, Mode::Interactive, Format::Jpg, "grim -t jpeg -g");
        check(Platform::Windows, Mode::Screen, Format::Jpg, "ImageFormat]::Jpeg");
        check(Platform::Windows, Mode::Interactive, Format::Png, "use mode=screen");
    }
}
