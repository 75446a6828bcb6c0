//! Whose rights a call needs: those of its caller, and of everybody who has a say in it by the calls above.
//!
//! The rights of a call are the intersection along its chain. Today one principal makes all calls of a chain, so what
//! this adds is whoever changed the input of a run on the way: the calls of that run are made with their words.

use tw_base::{Error, Result};
use tw_identity::ParkedCaller;
use tw_model::{Caller, Party, PermissionSet};

use crate::Engine;

/// Everybody whose rights a call is held against, with the rights they have now.
#[derive(Debug)]
pub(super) struct Parties<'a> {
    pub(super) caller: &'a Caller,
    /// The others along the chain. None in most calls.
    others: Vec<Caller>,
}

impl Parties<'_> {
    /// All of them, the caller first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Caller> {
        std::iter::once(self.caller).chain(&self.others)
    }

    /// Whether no person has a say in the call.
    pub(super) fn are_agents(&self) -> bool {
        self.all().all(|party| party.principal.is_agent())
    }

    /// What all of them may do.
    pub(super) fn permissions(&self) -> PermissionSet {
        let all = self.caller.permissions.clone();
        self.others.iter().fold(all, |all, other| all.intersect(&other.permissions))
    }

    /// Why one of them may not, in words for the caller, who may well be another.
    pub(super) fn why(&self, party: &Caller, why: String) -> String {
        if std::ptr::eq(party, self.caller) {
            return why;
        }
        format!("{why} (this concerns {}, whose rights this call chain also needs)", party.principal.label())
    }
}

impl Engine {
    /// The parties of a call, where `edited_by` has changed its input.
    pub(super) async fn parties<'a>(
        &self,
        caller: &'a Caller,
        edited_by: Option<&Party>,
    ) -> Result<Parties<'a>> {
        let mut others = Vec::new();
        for party in others_of(caller, edited_by) {
            others.push(Box::pin(self.as_of_now(caller, party)).await?);
        }
        Ok(Parties { caller, others })
    }

    /// Somebody with the rights they have now; refused if they are no member any more.
    pub(crate) async fn as_of_now(&self, caller: &Caller, party: &Party) -> Result<Caller> {
        let parked = ParkedCaller {
            principal: party.principal.clone(),
            display_name: party.principal.label(),
            role: party.role,
            source: caller.source,
            channel: caller.channel,
            chain: Vec::new(),
            trace: None,
        };
        self.inner.identity.of_parked(caller.tenant, parked).await.map_err(|error| match error {
            // The caller's own credentials are in order.
            Error::Unauthenticated { .. } => {
                let who = party.principal.label();
                let why = format!(
                    "{who} is no longer a member of the tenant, and this call chain needs their rights"
                );
                Error::NotPermitted { why }
            }
            error => error,
        })
    }
}

/// Everybody along the chain but the caller, each once.
fn others_of<'a>(caller: &'a Caller, edited_by: Option<&'a Party>) -> Vec<&'a Party> {
    let above = caller.chain.iter().flat_map(|link| [&link.by, &link.edited_by]).flatten();
    let mut others: Vec<&Party> = Vec::new();
    for party in above.chain(edited_by) {
        let is_caller = party.role == caller.role && party.principal == caller.principal;
        if !is_caller && !others.contains(&party) {
            others.push(party);
        }
    }
    others
}
