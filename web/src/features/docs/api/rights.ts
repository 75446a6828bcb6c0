/** Who gets what for an operation, as the page of rights tells it: the name of a caller and a cell of the table. */
export type Rights = [who: string, what: string][]

/** Callers that are of no interest beside an operation. */
const NOT_SHOWN = new Set(['nobody', "other tenant's admin", 'revoked key', 'expired key'])

/** The row of an operation in the tables of the page. */
export function rightsOf(page: string, method: string, path: string): Rights {
  const name = `\`${method.toUpperCase()} ${path}\``
  let columns: string[] = []
  for (const line of page.split('\n')) {
    if (!line.startsWith('|')) continue
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
    if (cells[0] === 'request') columns = cells
    if (cells[0] === name) {
      const rights = columns.map((who, place): [string, string] => [who, cells[place] ?? ''])
      return rights.slice(2).filter(([who]) => !NOT_SHOWN.has(who))
    }
  }
  return []
}
