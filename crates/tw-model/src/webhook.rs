//! What is told to others by webhooks.

/// Something that happens and that a webhook can be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WebhookEvent {
    RunCompleted,
    RunFailed,
    ApprovalRequested,
    ApprovalDecided,
    ToolPublished,
    McpDrift,
}

impl WebhookEvent {
    pub const ALL: [Self; 6] = [
        Self::RunCompleted,
        Self::RunFailed,
        Self::ApprovalRequested,
        Self::ApprovalDecided,
        Self::ToolPublished,
        Self::McpDrift,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RunCompleted => "run.completed",
            Self::RunFailed => "run.failed",
            Self::ApprovalRequested => "approval.requested",
            Self::ApprovalDecided => "approval.decided",
            Self::ToolPublished => "tool.published",
            Self::McpDrift => "mcp.drift",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == text)
    }

    /// Its place in a stored set of events. A bit never changes its meaning.
    #[must_use]
    pub const fn bit(self) -> i64 {
        match self {
            Self::RunCompleted => 1,
            Self::RunFailed => 1 << 1,
            Self::ApprovalRequested => 1 << 2,
            Self::ApprovalDecided => 1 << 3,
            Self::ToolPublished => 1 << 4,
            Self::McpDrift => 1 << 5,
        }
    }

    /// A stored set of events.
    #[must_use]
    pub fn bits(events: &[Self]) -> i64 {
        events.iter().fold(0, |bits, event| bits | event.bit())
    }

    /// The events of a stored set, in the order of [`Self::ALL`].
    #[must_use]
    pub fn of_bits(bits: i64) -> Vec<Self> {
        Self::ALL.into_iter().filter(|event| bits & event.bit() != 0).collect()
    }
}

/// How far a delivery has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryStatus {
    /// It is tried, now or later.
    Pending,
    Delivered,
    /// It is not tried any more, unless somebody asks for it.
    Failed,
}

impl DeliveryStatus {
    pub const ALL: [Self; 3] = [Self::Pending, Self::Delivered, Self::Failed];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// Why the program itself has switched a webhook off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WebhookOff {
    /// Its receiver said that it is gone, with 410.
    Gone,
    /// Nothing was taken for days.
    Failing,
}

impl WebhookOff {
    pub const ALL: [Self; 2] = [Self::Gone, Self::Failing];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Failing => "failing",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_of_events_survives_being_stored() {
        let all = WebhookEvent::bits(&WebhookEvent::ALL);
        assert_eq!(WebhookEvent::of_bits(all), WebhookEvent::ALL);
        assert_eq!(all.count_ones(), 6, "every event has a bit of its own");
        assert_eq!(
            WebhookEvent::of_bits(WebhookEvent::ToolPublished.bit() | 1 << 40),
            [WebhookEvent::ToolPublished],
            "what a newer program knows is left out"
        );
        for event in WebhookEvent::ALL {
            assert_eq!(WebhookEvent::parse(event.as_str()), Some(event));
        }
    }
}
