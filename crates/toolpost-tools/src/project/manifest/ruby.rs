//! Ruby: gems, Rails, test runners, by scanning.

use super::Manifest;
use crate::project::facts::{Facts, Purpose};
use crate::project::values::quoted;

/// Gems that shape a program.
const FRAMEWORKS: [(&str, &str); 9] = [
    ("rails", "Rails"),
    ("sinatra", "Sinatra"),
    ("hanami", "Hanami"),
    ("roda", "Roda"),
    ("jekyll", "Jekyll"),
    ("sidekiq", "Sidekiq"),
    ("rspec", "RSpec"),
    ("rspec-rails", "RSpec"),
    ("minitest", "Minitest"),
];

/// The names of the gems that lines with one of these words ask for.
fn gems<'a>(text: &'a str, words: &[&str]) -> Vec<&'a str> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let asking = lines.filter(|line| {
        words
            .iter()
            .any(|word| line.find(word).is_some_and(|at| line[at + word.len()..].starts_with([' ', '('])))
    });
    asking.filter_map(|line| quoted(line).first().copied()).collect()
}

pub(super) fn gemfile(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.package_manager("bundler", manifest.path);
    facts.command(Purpose::Install, "bundle install", manifest.folder, manifest.path);
    let gems = gems(manifest.text, &["gem"]);
    known(manifest, &gems, facts);
    if gems.contains(&"rails") {
        facts.package("ruby", manifest.path, None, None);
        facts.command(Purpose::Run, "bin/rails server", manifest.folder, manifest.says("rails"));
        if !facts.has_command(Purpose::Test, manifest.folder, &["bundle", "rails"]) {
            facts.command(Purpose::Test, "bin/rails test", manifest.folder, manifest.says("rails"));
        }
        if manifest.has("config/application.rb") {
            facts.entry_point(&manifest.file("config/application.rb"), "the usual place of Rails");
        }
    }
    if manifest.has("config.ru") {
        facts.entry_point(&manifest.file("config.ru"), "the usual place of Rack");
    }
}

fn known(manifest: &Manifest<'_>, gems: &[&str], facts: &mut Facts) {
    for (gem, framework) in FRAMEWORKS {
        if gems.contains(&gem) {
            facts.framework(framework, manifest.says(gem));
        }
    }
    if let Some(gem) = gems.iter().find(|gem| gem.starts_with("rspec")) {
        facts.command(Purpose::Test, "bundle exec rspec", manifest.folder, manifest.says(gem));
    }
    for (gem, purpose, command) in [
        ("rubocop", Purpose::Lint, "bundle exec rubocop"),
        ("standard", Purpose::Lint, "bundle exec standardrb"),
    ] {
        if gems.iter().any(|known| known == &gem || known.starts_with(&format!("{gem}-"))) {
            facts.command(purpose, command, manifest.folder, manifest.says(gem));
        }
    }
}

pub(super) fn gemspec(manifest: &Manifest<'_>, facts: &mut Facts) {
    let value = |key: &str| {
        let line = manifest.text.lines().find(|line| {
            let line = line.trim_start();
            line.split_once('=').is_some_and(|(left, _)| left.trim().ends_with(&format!(".{key}")))
        });
        line.and_then(|line| quoted(line).first().copied())
    };
    facts.package_manager("bundler", manifest.path);
    facts.package("ruby", manifest.path, value("name"), value("summary"));
    let asked =
        gems(manifest.text, &["add_dependency", "add_development_dependency", "add_runtime_dependency"]);
    known(manifest, &asked, facts);
    facts.command(Purpose::Build, "gem build", manifest.folder, manifest.path);
}

pub(super) fn rakefile(manifest: &Manifest<'_>, facts: &mut Facts) {
    facts.build_tool("rake", manifest.path);
    let has_tests = ["Rake::TestTask", "task :test", "task test", "Minitest::TestTask"];
    if has_tests.iter().any(|word| manifest.text.contains(word))
        && !facts.has_command(Purpose::Test, manifest.folder, &["bundle", "rails"])
    {
        facts.command(Purpose::Test, "bundle exec rake test", manifest.folder, manifest.path);
    }
}
