/** A part of the app that did not come: the server is away, or it has another version of the app by now. */
export class NotLoaded extends Error {
  constructor(override readonly cause: unknown) {
    super('a part of the app could not be loaded')
    this.name = 'NotLoaded'
  }
}

// What browsers and the bundler say when a script or a style sheet does not come.
const NOT_LOADED = /dynamically imported module|importing a module script|unable to preload/i

export function isNotLoaded(error: unknown): boolean {
  return error instanceof NotLoaded || (error instanceof Error && NOT_LOADED.test(error.message))
}

const SCRIPT = /<script[^>]*\ssrc="(\/assets\/[^"]+)"/

/**
 * The script that the server starts the app with now.
 *
 * @throws when the server cannot be reached.
 */
export async function deployedScript(): Promise<string | undefined> {
  const answer = await fetch('/', { cache: 'no-store', headers: { accept: 'text/html' } })
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`)
  return SCRIPT.exec(await answer.text())?.[1]
}

/** Whether this page is of another version than the script that the server starts the app with. */
export function isOtherVersion(
  deployed: string | undefined,
  head: string = document.head.innerHTML,
): boolean {
  const ours = SCRIPT.exec(head)?.[1]
  return deployed !== undefined && ours !== undefined && deployed !== ours
}

const RELOADED_FOR = 'reloaded-for'

/**
 * Whether this page is of another version than the server's, and has not been loaded anew for that one. Answers yes
 * once for each version: two servers that disagree must not send the browser back and forth.
 */
export function takeNewVersion(
  deployed: string | undefined,
  head: string = document.head.innerHTML,
): boolean {
  if (!deployed || !isOtherVersion(deployed, head)) return false
  try {
    if (sessionStorage.getItem(RELOADED_FOR) === deployed) return false
    sessionStorage.setItem(RELOADED_FOR, deployed)
    return true
  } catch {
    // Where nothing can be remembered, nothing keeps us from a loop.
    return false
  }
}
