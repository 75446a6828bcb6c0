import { useMay, useMe } from './me'

/** Who did something, as runs and events have it. */
export interface Actor {
  kind: string
  id?: string
  slug?: string
}

/** Approvals write the same in one word: `user:<id>` or `agent:<slug>`. */
export function actorOf(label: string): Actor {
  const [kind = '', ...rest] = label.split(':')
  const name = rest.join(':')
  return kind === 'user' ? { kind, id: name } : { kind, slug: name }
}

/** Whether the person signed in may read a run of somebody, who is given in one word. */
export function useMayReadRunOf(label: string): boolean {
  const { kind, id } = actorOf(label)
  const isOwn = useMe().principal.user_id === id && kind === 'user'
  return useMay('runs.tenant.read') || isOwn
}
