import { actorOf } from '~/api/actor'
import { useMe } from '~/api/me'
import { useTranslation } from '~/i18n'
import { useNaming } from '~/kit/people'
import type { Asked } from './answer-queries'

/** What is asked and by whom, in one line. */
export function useAsks(): (call: Pick<Asked, 'requested_by'>, tool: string) => string {
  const { t } = useTranslation('answers')
  const name = useNaming()
  const me = useMe().principal.user_id
  return ({ requested_by }, tool) => {
    const actor = actorOf(requested_by)
    const isMe = actor.id !== undefined && actor.id === me
    return t(isMe ? 'asks_you' : 'asks', { who: name(actor), tool })
  }
}
