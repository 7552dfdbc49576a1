//! PHP: Composer.

use super::Manifest;
use crate::project::facts::{Facts, Purpose};
use crate::project::values::{keys_at, of_json, text_at};

/// Packages that shape a program, by the beginnings of their names.
const FRAMEWORKS: [(&str, &str); 9] = [
    ("laravel/framework", "Laravel"),
    ("symfony/framework-bundle", "Symfony"),
    ("slim/slim", "Slim"),
    ("cakephp/cakephp", "CakePHP"),
    ("yiisoft/yii2", "Yii"),
    ("drupal/core", "Drupal"),
    ("doctrine/orm", "Doctrine"),
    ("phpunit/phpunit", "PHPUnit"),
    ("pestphp/pest", "Pest"),
];

/// What tools of others do: the package, what it is for, its command.
const TOOLS: [(&str, Purpose, &str); 7] = [
    ("pestphp/pest", Purpose::Test, "vendor/bin/pest"),
    ("phpunit/phpunit", Purpose::Test, "vendor/bin/phpunit"),
    ("phpstan/phpstan", Purpose::Lint, "vendor/bin/phpstan analyse"),
    ("vimeo/psalm", Purpose::Lint, "vendor/bin/psalm"),
    ("squizlabs/php_codesniffer", Purpose::Lint, "vendor/bin/phpcs"),
    ("friendsofphp/php-cs-fixer", Purpose::Format, "vendor/bin/php-cs-fixer fix"),
    ("laravel/pint", Purpose::Format, "vendor/bin/pint"),
];

pub(super) fn composer(manifest: &Manifest<'_>, facts: &mut Facts) {
    let value = of_json(manifest.text);
    if !value.is_object() {
        return;
    }
    facts.package_manager("composer", manifest.path);
    facts.package("composer", manifest.path, text_at(&value, "/name"), text_at(&value, "/description"));
    facts.command(Purpose::Install, "composer install", manifest.folder, manifest.path);
    for (script, purpose) in [
        ("test", Purpose::Test),
        ("lint", Purpose::Lint),
        ("analyse", Purpose::Lint),
        ("format", Purpose::Format),
        ("dev", Purpose::Run),
    ] {
        if keys_at(&value, "/scripts").contains(&script) {
            let evidence = manifest.says(&format!("scripts.{script}"));
            facts.command(purpose, format!("composer {script}"), manifest.folder, evidence);
        }
    }
    for table in ["require", "require-dev"] {
        let keys = keys_at(&value, &format!("/{table}"));
        for (package, framework) in FRAMEWORKS {
            if keys.contains(&package) {
                facts.framework(framework, manifest.says(&format!("{table}.{package}")));
            }
        }
        for (package, purpose, command) in TOOLS {
            if keys.contains(&package)
                && !facts.has_command(purpose, manifest.folder, &["composer", "vendor/bin"])
            {
                let evidence = manifest.says(&format!("{table}.{package}"));
                facts.command(purpose, command, manifest.folder, evidence);
            }
        }
    }
    if manifest.has("artisan") {
        facts.entry_point(&manifest.file("public/index.php"), "the usual place of Laravel");
        facts.command(Purpose::Run, "php artisan serve", manifest.folder, manifest.file("artisan"));
    } else if manifest.has("public/index.php") {
        facts.entry_point(&manifest.file("public/index.php"), "the usual place");
    }
}
