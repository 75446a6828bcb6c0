import { queryOptions, useQuery } from '@tanstack/react-query'
import { Bot, CircleUser } from 'lucide-react'

import type { Actor } from '~/api/actor'
import { api, body } from '~/api/client'
import { useMay, useMe } from '~/api/me'
import { useTranslation } from '~/i18n'

const members = queryOptions({
  queryKey: ['users', 'names'],
  queryFn: () => body(api.GET('/api/users', { params: { query: { limit: 200 } } })),
  staleTime: 60_000,
  select: (page) => new Map(page.items.map((user) => [user.id, user.display_name || user.email])),
})

/** Names people in words. Without the right to see members, everybody else is a colleague. */
export function useNaming(): (actor: Actor | null) => string {
  const { t } = useTranslation()
  const me = useMe()
  const { data: names } = useQuery({ ...members, enabled: useMay('members.tenant.read') })
  return (actor) => {
    if (!actor) return t('person.nobody')
    if (actor.kind === 'agent') return actor.slug ?? t('person.agent')
    if (actor.id === undefined) return actor.slug || actor.kind
    if (actor.id === me.principal.user_id) return t('person.you')
    return names?.get(actor.id) ?? t('person.colleague')
  }
}

/** Who it was; the id is there for those who have to tell two colleagues apart. */
export function ActorName({ actor }: { actor: Actor | null }) {
  const { t } = useTranslation()
  const name = useNaming()
  const isAgent = actor?.kind === 'agent'
  const Icon = isAgent ? Bot : CircleUser
  return (
    <span title={actor?.id} className="inline-flex min-w-0 items-center gap-1.5 align-middle">
      <Icon aria-hidden className="size-4 shrink-0 text-muted" />
      <span className="min-w-0 break-words">
        {isAgent && <span className="sr-only">{t('person.agent')} </span>}
        {name(actor)}
      </span>
    </span>
  )
}
