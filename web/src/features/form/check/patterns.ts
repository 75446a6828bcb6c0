// The server runs patterns on an engine whose time is linear in the text. The browser's may take for
// ever on a pattern such as `^(a+)+$`, and a pattern comes from whoever wrote the tool.

/** Where a group is repeated, and something in it may match the same text in several ways. */
const REPEATED_GROUP =
  /\((?:[^()\\]|\\.)*(?:[*+|]|\{\d+,\d*\})(?:[^()\\]|\\.)*\)\s*(?:[*+]|\{\d+,\d*\})/
const NESTED_REPEATED_GROUP = /\([^]*\([^]*\)[^]*\)(?:[*+]|\{\d+,\d*\})/

/** Whether the browser can be trusted with a pattern. What it cannot check here, the server checks. */
export function isTame(pattern: string): boolean {
  if (REPEATED_GROUP.test(pattern) || NESTED_REPEATED_GROUP.test(pattern)) return false
  const repeats = pattern.match(/(?:\.|\\[wWsSdD]|\])(?:[*+]|\{\d+,\})/g) ?? []
  if (repeats.length > 4) return false
  try {
    new RegExp(pattern, 'u')
    return true
  } catch {
    return false
  }
}
