// The server runs patterns on an engine whose time is linear in the text. The browser's may take for
// ever on a pattern such as `^(a+)+$`, and a pattern comes from whoever wrote the tool.

const LENGTH_MAX = 1_000
/** So many open repetitions, one after the other, are still fast on the texts of a form. */
const REPEATS_MAX = 6
const REPEAT = /^(?:[*+]|\{\d+,\d*\})/

/** Whether the browser can be trusted with a pattern. What it cannot check here, the server checks. */
export function isTame(pattern: string): boolean {
  if (pattern.length > LENGTH_MAX || isRisky(pattern)) return false
  try {
    new RegExp(pattern, 'u')
    return true
  } catch {
    return false
  }
}

/** Whether a group is repeated that may match one text in several ways, or there is much repetition. */
function isRisky(pattern: string): boolean {
  // For every group that is open: whether it holds a repetition or a choice.
  const open = [false]
  let repeats = 0
  for (let index = 0; index < pattern.length; index++) {
    const sign = pattern[index]
    if (sign === '\\') index++
    else if (sign === '[') index = endOfClass(pattern, index)
    else if (sign === '(') open.push(false)
    else if (sign === '|') open[open.length - 1] = true
    else if (sign === ')') {
      const varies = open.pop() ?? false
      if (varies && REPEAT.test(pattern.slice(index + 1, index + 12))) return true
      if (varies) open[open.length - 1] = true
    } else if (REPEAT.test(pattern.slice(index, index + 12))) {
      open[open.length - 1] = true
      repeats++
    }
  }
  return repeats > REPEATS_MAX
}

function endOfClass(pattern: string, start: number): number {
  for (let index = start + 1; index < pattern.length; index++) {
    if (pattern[index] === '\\') index++
    else if (pattern[index] === ']') return index
  }
  return pattern.length
}
