/** Short forms that people write in capitals, however the program spelled them. */
const ACRONYMS = new Set(
  'ai api crm css csv eur fte gbp html http https id ip irr json kpi llm mcp npv pdf roi sku sla sql ui uri url usd uuid vat xml'.split(
    ' ',
  ),
)

const upper = /^\p{Lu}$/u
const lower = /\p{Ll}/u
const digit = /^\p{N}$/u

/** A field's name as a label: `annual_budget`, `annual-budget` and `annualBudget` are all `Annual Budget`. */
export function humanize(name: string): string {
  const all = words(name)
  const shouts = !lower.test(name) && all.length > 1
  return all.map((word) => titleCase(word, shouts)).join(' ')
}

function titleCase(word: string, shouts: boolean): string {
  const small = word.toLowerCase()
  if (ACRONYMS.has(small)) return small.toUpperCase()
  const letters = [...word]
  if (letters.length > 1 && !shouts && !lower.test(word)) return word
  return (letters[0] ?? '').toUpperCase() + letters.slice(1).join('').toLowerCase()
}

const NAME = /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/

/** A value to choose: names that programs use become words, anything else stays as it was written. */
export function choiceInWords(value: string): string {
  return NAME.test(value) ? humanize(value) : value
}

/** The words of a name: what stands between signs, and what capitals set apart. */
function words(name: string): string[] {
  const found: string[] = []
  for (const part of name.split(/[^\p{L}\p{N}\p{M}]/u)) {
    const letters = [...part]
    let word = ''
    letters.forEach((letter, index) => {
      const before = letters[index - 1]
      const afterSmall = before !== undefined && !upper.test(before) && !digit.test(before)
      const beforeSmall = lower.test(letters[index + 1] ?? '')
      if (upper.test(letter) && before !== undefined && (afterSmall || beforeSmall)) {
        found.push(word)
        word = ''
      }
      word += letter
    })
    found.push(word)
  }
  return found.filter((word) => word !== '')
}
