import i18next from 'i18next'
import { useTranslation } from 'react-i18next'

// The sentences that the server says of requests, runs and addresses, and the words for them here. Groups of a pattern
// are the values of the text; `why` is a sentence of its own.
const SENTENCES: [RegExp, key: string][] = [
  [/^there is no such /, 'missing'],
  [/^there is no tool `(?<tool>.+)` in the catalogue$/, 'no_tool'],
  [/^there is no credential `(?<label>.+)`$/, 'no_credential'],
  [/^the tool `(?<tool>.+)` is switched off$/, 'switched_off'],
  [/^this needs the permission `(?<permission>.+)`$/, 'permission'],
  [/^this .+ has made too many calls in a minute$/, 'too_many_calls'],
  [/^this server is about to stop$/, 'stopping'],
  [/^the database did not answer while /, 'database'],
  [/^the call could not be recorded$/, 'not_recorded'],
  [/^the server failed to do its own work$/, 'internal'],
  [/^the body is over (?<bytes>\d+) bytes$/, 'body_too_large'],
  [/^the .+ has changed since it was read$/, 'stale'],
  [/^the .+ has expired$/, 'expired'],
  [/^others keep changing the .+ at this moment; try again$/, 'busy'],
  [/^the email or the password is wrong$/, 'wrong_password'],
  [/^too many failed sign-ins/, 'too_many_sign_ins'],
  [/^the sign-in link has been used or has expired$/, 'link_used'],
  [/^the tenant is suspended$/, 'suspended'],

  [/^the run was cancelled$/, 'run_cancelled'],
  [/^the run has ended already: /, 'run_ended'],
  [/^the call was answered before$/, 'call_answered'],
  [/^the call was cancelled$/, 'call_cancelled'],
  [/^nobody decided in time$/, 'nobody_decided'],
  [/^nobody answered in time$/, 'nobody_answered'],
  [/^the tool has changed since the approval was asked for/, 'tool_changed_asked'],
  [/^the tool has changed since the call was begun$/, 'tool_changed'],
  [/^the server stopped while the tool was running$/, 'interrupted'],
  [/^the database was away when the call started/, 'not_made'],
  [/^Tool timed out after (?<ms>\d+)ms$/, 'timed_out'],
  [/^the time was over while /, 'time_over'],
  [/^the tool crashed; /, 'crashed'],
  [/^the tool's output is over (?<bytes>\d+) bytes$/, 'output_too_large'],
  [/^the service failed (?<times>\d+) times in a row/, 'circuit_open'],
  [/^step `(?<step>[^`]+)` \((?<tool>[^)]+)\): (?<why>.+)$/s, 'step'],

  [/^the URL cannot be used: (?<why>.+)$/, 'url'],
  [/^it is not an absolute URL$/, 'url_not_absolute'],
  [/^only http and https can be called$/, 'url_scheme'],
  [/^it has no host$/, 'url_no_host'],
  [/^port 0 cannot be called$|^its port is not a number/, 'url_port'],
  [/^it has characters that no request can carry/, 'url_characters'],
  [/^it carries a user name; /, 'url_user'],
  [/^`(?<site>.+)` cannot be reached: (?<why>.+)$/, 'unreachable'],
  [/^no address is known for its name$/, 'no_address'],
  [/^the connection was refused$/, 'refused'],
  [/^no connection came about$/, 'no_connection'],
  [/^connecting took too long$/, 'connecting_long'],
  [/^its certificate is not trusted$/, 'untrusted'],
  [/^the TLS handshake failed$/, 'handshake'],
  [/^`(?<site>.+)` did not finish its answer within /, 'answer_long'],
  [/^the answer of `(?<site>.+)` is too large: /, 'answer_large'],
  [/^the answer of `(?<site>.+)` cannot be used: /, 'answer_bad'],
  [/^the connection to `(?<site>.+)` broke before/, 'broke'],
  [/^`(?<site>.+)` leads to .+, which stays shut/, 'denied_always'],
  [/^`(?<site>.+)` leads to .+; an operator can open it/, 'denied'],
  [/ names an address that cannot be read; /, 'denied_unreadable'],
]

type Say = (key: string, values: Record<string, string>) => string

/** What the server said, by `say`; what is not known here, such as the words of a tool, stays as it came. */
export function plainly(say: Say, message: string): string {
  for (const [pattern, key] of SENTENCES) {
    const found = pattern.exec(message)
    if (!found) continue
    const values: Record<string, string> = { ...found.groups, defaultValue: message }
    if (values.why !== undefined) values.why = plainly(say, values.why)
    return say(key, values)
  }
  return message
}

/**
 * Says in the language of the page what the server says in English. The texts come when somebody needs them, and until
 * then the server's own will do: what went wrong is not to wait for them.
 */
export function useServerWords(): (message: string) => string {
  const { t } = useTranslation('server', { useSuspense: false })
  return (message) => plainly((key, values) => t(key, values), message)
}

/** The same, outside of components. */
export function serverWords(message: string): string {
  return plainly((key, values) => i18next.t(key, { ns: 'server', ...values }), message)
}
