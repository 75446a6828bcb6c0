/** How far one of several decisions has come. */
export type Fate =
  | { state: 'waiting' }
  | { state: 'sending' }
  /** `came` is the status of its run, or `denied`. */
  | { state: 'done'; came: string }
  | { state: 'failed'; error: unknown }

/** More at once would take the turns of everybody else who asks the server. */
const AT_ONCE = 3

/** Decides on several, each by a call of its own. One that fails keeps no other from being decided. */
export async function decideAll(
  ids: readonly string[],
  decide: (id: string) => Promise<string>,
  onFate: (id: string, fate: Fate) => void,
): Promise<void> {
  const open = [...ids]
  const work = async () => {
    for (let id = open.shift(); id !== undefined; id = open.shift()) {
      onFate(id, { state: 'sending' })
      try {
        onFate(id, { state: 'done', came: await decide(id) })
      } catch (error) {
        onFate(id, { state: 'failed', error })
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/** How many decisions came to what: by the status of the run, `denied`, or `failed` where none was taken. */
export function tally(fates: Iterable<Fate>): Map<string, number> {
  const found = new Map<string, number>()
  for (const fate of fates) {
    const came = fate.state === 'done' ? fate.came : fate.state
    if (came === 'waiting' || came === 'sending') continue
    found.set(came, (found.get(came) ?? 0) + 1)
  }
  return found
}
