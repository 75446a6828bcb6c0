//! Signatures as the Standard Webhooks specification has them: HMAC-SHA256 over id, time and body.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

/// How the text of a secret begins.
const PREFIX: &str = "whsec_";

/// A new secret.
pub(crate) fn new_secret() -> Zeroizing<Vec<u8>> {
    Zeroizing::new(tw_base::secrets::random::<32>().to_vec())
}

/// The text of a secret, as its owner puts it into a library.
pub(crate) fn secret_text(secret: &[u8]) -> Zeroizing<String> {
    Zeroizing::new([PREFIX, &STANDARD.encode(secret)].concat())
}

/// The value of `webhook-signature`: one signature for each secret, the newest first.
pub(crate) fn signature<'a>(
    secrets: impl IntoIterator<Item = &'a [u8]>,
    id: &str,
    seconds: i64,
    body: &str,
) -> String {
    let one = |secret: &[u8]| {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
        mac.update(format!("{id}.{seconds}.").as_bytes());
        mac.update(body.as_bytes());
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    };
    secrets.into_iter().map(one).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification.
    #[test]
    fn signature_is_that_of_the_specification() {
        let secret = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let (id, body) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", r#"{"test": 2432232314}"#);
        assert_eq!(
            signature([&*secret], id, 1_614_265_330, body),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
        assert_eq!(signature([&*secret, b"other"], id, 1, body).split(' ').count(), 2);
    }

    #[test]
    fn text_of_a_secret_is_its_bytes() {
        let secret = new_secret();
        let text = secret_text(&secret);
        assert_eq!(STANDARD.decode(text.strip_prefix("whsec_").unwrap()).unwrap(), *secret);
    }
}
