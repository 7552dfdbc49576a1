//! The model that tools use for themselves: the one of the configuration. Its key is looked for when it is first asked.

use crate::config::{Config, ModelSettings};
use futures_util::stream::{BoxStream, StreamExt, TryStreamExt, once};
use std::sync::Arc;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use toolpost_agent::model::{Remote, Timeouts, Wanted, choose, client};
use toolpost_core::host::Redactor;
use toolpost_core::model::{Delta, Model, ModelError, ModelErrorKind, Profile, Request};
use toolpost_http::{Connect, Proxy};

/// The configured model. Nothing is opened, and no key is read, before somebody asks it something.
#[derive(Clone)]
pub(super) struct ToolModel(Arc<Inner>);

struct Inner {
    profile: Profile,
    settings: ModelSettings,
    /// Is told the key, so that no result and no event shows it.
    redactor: Redactor,
    today: String,
    opened: OnceCell<Remote>,
}

impl ToolModel {
    /// The model that the configuration names; none where it names none that is known.
    pub(super) fn configured(config: &Config, today: &str) -> Option<ToolModel> {
        if !config.names_model() {
            return None;
        }
        let settings = config.models().ok()?;
        let ModelSettings { for_all, flag, configured, .. } = &settings;
        let name = for_all.as_ref().or(flag.as_ref()).or(configured.as_ref())?;
        let (row, model) = settings.catalog.find(name).ok()?;
        let profile = row.profile(&model, today);
        let (redactor, today) = (config.redactor.clone(), today.to_owned());
        let inner = Inner { profile, settings, redactor, today, opened: OnceCell::new() };
        Some(ToolModel(Arc::new(inner)))
    }

    async fn opened(&self) -> Result<&Remote, ModelError> {
        let Inner { settings, redactor, today, opened, .. } = &*self.0;
        let open = || async {
            let proxy = settings.proxy.as_ref().map(|proxy| Proxy::new(proxy, &[])).transpose();
            let proxy = proxy.map_err(|error| {
                ModelError::new(ModelErrorKind::Invalid, format!("`modelProxy`: {error}"))
            })?;
            let client = client(&Timeouts::default(), proxy.map(|proxy| Arc::new(proxy) as Arc<dyn Connect>));
            let ModelSettings { for_all, flag, configured, .. } = settings;
            let (for_all, flag, configured) = (for_all.clone(), flag.clone(), configured.clone());
            let wanted = Wanted { for_all, flag, configured, ..Wanted::default() };
            let choice = choose(&wanted, &settings.catalog, &settings.keys, &client).await?;
            if let Some(key) = &choice.key {
                key.teach(redactor);
            }
            let model = choice.vendor.open(&choice.model, choice.key, client, today);
            Ok(match settings.silence {
                Some(silence) => model.with_silence(silence),
                None => model,
            })
        };
        opened.get_or_try_init(open).await
    }
}

impl Model for ToolModel {
    fn profile(&self) -> &Profile {
        &self.0.profile
    }

    fn stream(
        &self,
        request: Request,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<Delta, ModelError>> {
        let this = self.clone();
        once(async move { this.opened().await.map(|model| model.stream(request, cancel)) })
            .try_flatten()
            .boxed()
    }
}
