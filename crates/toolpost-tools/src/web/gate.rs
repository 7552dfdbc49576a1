//! What the policy says of the places that a fetch would reach.
//!
//! The policy decides; this only puts its questions and words its answers.

use std::net::IpAddr;
use toolpost_core::policy::Remedy;
use toolpost_core::{Context, Policy};
use toolpost_web::{Gate, Hop, NotPublic, PageUrl, not_public};

/// Asks the policy of a call.
pub(super) struct ByPolicy<'a>(pub(super) &'a Context);

impl Gate for ByPolicy<'_> {
    fn host(&self, url: &PageUrl, hop: Hop) -> Result<(), String> {
        match (self.0.host_refusal(&url.place()), hop) {
            (None, _) => Ok(()),
            (Some(refusal), Hop::First) => Err(refusal.message().to_owned()),
            // What was agreed to for one host does not hold for the next one.
            (Some(refusal), Hop::Redirect) => Err(format!(
                "it redirects to {url}, which this call may not reach; fetch that address by itself ({})",
                refusal.message()
            )),
        }
    }

    fn address(&self, url: &PageUrl, address: IpAddr, why: Option<NotPublic>) -> Result<(), String> {
        let bracketed = match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        let dialled = format!("{bracketed}:{}", url.port());
        let place = url.place();
        match why {
            // A rule about an address also holds for the names that lead to it.
            None if dialled == place => Ok(()),
            None => self.denial(&dialled),
            Some(_) if self.0.opens_host(&place) => self.denial(&dialled),
            Some(_) if self.0.opens_host(&dialled) => Ok(()),
            Some(why) => {
                let found = match dialled == place {
                    true => format!("{dialled} is {why}"),
                    false => format!("{place} leads to {dialled}, which is {why}"),
                };
                Err(closed(self.0.policy(), &found, &place))
            }
        }
    }
}

/// Why the place will not be reached, if its address tells that without a lookup of its name: it is not public, and no rule
/// names it.
pub(super) fn closed_before_lookup(policy: &Policy, tool: &str, url: &PageUrl) -> Option<String> {
    let place = url.place();
    let is_loopback = url.host() == "localhost" || url.host().ends_with(".localhost");
    let why = match url.address() {
        Some(address) => not_public(address)?,
        None if is_loopback => NotPublic::Loopback,
        None => return None,
    };
    (!policy.opens_host(tool, &place)).then(|| closed(policy, &format!("{place} is {why}"), &place))
}

fn closed(policy: &Policy, found: &str, place: &str) -> String {
    let advice = policy.advise(&Remedy::Closed { rules: &[format!("network: {place}")] });
    format!("{found}, and only public addresses are reached; to reach it, {advice}")
}

impl ByPolicy<'_> {
    /// Whether a rule denies the address, whatever its name is allowed.
    fn denial(&self, dialled: &str) -> Result<(), String> {
        let refusal = self.0.host_refusal(dialled).filter(|refusal| refusal.details().contains_key("rule"));
        refusal.map_or(Ok(()), |refusal| Err(refusal.message().to_owned()))
    }
}
