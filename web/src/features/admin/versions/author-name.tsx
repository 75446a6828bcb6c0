import { ActorName } from '~/kit/people'
import type { Author } from '../types'

/** Who changed a tool. */
export function AuthorName({ author: { id, agent } }: { author: Author }) {
  return <ActorName actor={agent ? { kind: 'agent', slug: agent, id } : { kind: 'user', id }} />
}
