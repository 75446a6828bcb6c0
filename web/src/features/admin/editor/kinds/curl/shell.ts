/** What keeps a command from being read, by the name of its text, and what that text names. */
export class CurlFault extends Error {
  constructor(
    readonly code: string,
    readonly params: Record<string, string> = {},
  ) {
    super(code)
  }
}

// Around the name of a variable, whose value only the shell knows. Nobody types these characters.
const OPEN = '\uE000'
const CLOSE = '\uE001'
export const VARIABLE = /\uE000([^\uE001]*)\uE001/

/** Whether a text has a value in it that only the shell knows. */
export function hasVariable(text: string): boolean {
  return VARIABLE.test(text)
}

/** A text as somebody wrote it: variables with their dollar sign. */
export function asTyped(text: string): string {
  return text.replaceAll(OPEN, '$').replaceAll(CLOSE, '')
}

/** The commands of a line that is piped, each as its words, by the rules of bash. */
export function commandsOf(line: string): string[][] {
  const commands: string[][] = [[]]
  let word: string | undefined
  let at = 0
  const put = (text: string) => {
    word = (word ?? '') + text
  }
  const end = () => {
    if (word !== undefined) commands.at(-1)?.push(word)
    word = undefined
  }
  while (at < line.length) {
    const char = line.charAt(at)
    const rest = line.slice(at)
    if (/^\\\r?\n/.test(rest)) {
      at += rest.startsWith('\\\r') ? 3 : 2
    } else if (/^[ \t]/.test(rest)) {
      end()
      at++
    } else if (char === '\n' || char === '\r' || char === ';' || rest.startsWith('&&')) {
      // A second command is not ours to run.
      end()
      if (commands.flat().length > 0) break
      at++
    } else if (char === '|') {
      end()
      commands.push([])
      at++
    } else if (/^\d?>/.test(rest) && word === undefined) {
      // Where the answer is written to is of no account here, and it is the last that is said.
      break
    } else if (char === '#' && word === undefined) {
      at += /^[^\n]*/.exec(rest)?.[0].length ?? 1
    } else if (rest.startsWith("$'")) {
      const [text, length] = ansi(rest)
      put(text)
      at += length
    } else if (char === "'") {
      const close = line.indexOf("'", at + 1)
      if (close < 0) throw new CurlFault('unclosed', { quote: "'" })
      put(line.slice(at + 1, close))
      at = close + 1
    } else if (char === '"') {
      const [text, length] = quoted(rest)
      put(text)
      at += length
    } else if (char === '\\') {
      put(line.charAt(at + 1))
      at += 2
    } else if (char === '$' || char === '`') {
      const [text, length] = variable(rest)
      put(text)
      at += length
    } else if (char === '^' && /^\^["\r\n]/.test(rest)) {
      throw new CurlFault('windows')
    } else {
      put(char)
      at++
    }
  }
  end()
  return commands.filter((words) => words.length > 0)
}

/** What stands in double quotes, and how long that is with them. */
function quoted(rest: string): [text: string, length: number] {
  let text = ''
  let at = 1
  while (at < rest.length) {
    const char = rest.charAt(at)
    if (char === '"') return [text, at + 1]
    if (char === '\\' && /["\\$`\n]/.test(rest.charAt(at + 1))) {
      text += rest.charAt(at + 1) === '\n' ? '' : rest.charAt(at + 1)
      at += 2
    } else if (char === '$' || char === '`') {
      const [value, length] = variable(rest.slice(at))
      text += value
      at += length
    } else {
      text += char
      at++
    }
  }
  throw new CurlFault('unclosed', { quote: '"' })
}

function variable(rest: string): [text: string, length: number] {
  if (rest.startsWith('$(') || rest.startsWith('`')) throw new CurlFault('substitution')
  const found = /^\$(?:\{(\w+)\}|([A-Za-z_]\w*))/.exec(rest)
  if (!found) return ['$', 1]
  return [`${OPEN}${found[1] ?? found[2]}${CLOSE}`, found[0].length]
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', e: '\x1b' }

/** What stands in `$'…'`, where a backslash writes a character by its number. */
function ansi(rest: string): [text: string, length: number] {
  let text = ''
  let at = 2
  while (at < rest.length) {
    const char = rest.charAt(at)
    if (char === "'") return [text, at + 1]
    if (char !== '\\') {
      text += char
      at++
      continue
    }
    const code = /^\\(?:u([\da-f]{1,4})|U([\da-f]{1,8})|x([\da-f]{1,2})|([0-7]{1,3}))/i.exec(
      rest.slice(at),
    )
    if (code) {
      const [all, four, eight, two, octal] = code
      const number = octal
        ? Number.parseInt(octal, 8)
        : Number.parseInt(four ?? eight ?? two ?? '', 16)
      text += four ? String.fromCharCode(number) : String.fromCodePoint(number)
      at += all.length
    } else {
      const next = rest.charAt(at + 1)
      text += ESCAPES[next] ?? next
      at += 2
    }
  }
  throw new CurlFault('unclosed', { quote: "$'" })
}
