import type { ReactNode } from 'react'

import { useTranslation } from '~/i18n'
import { FactList } from '~/kit/facts'
import { Moment } from '~/kit/time'
import { useReason } from '../badges'
import { timeWords } from '../editor/time'
import type { Tool } from '../types'

export function Facts({ tool }: { tool: Tool }) {
  const { t } = useTranslation('admin')
  const { t: kinds } = useTranslation('kinds', { useSuspense: false })
  const execution = tool.implementation_type
  const reason = useReason()
  const yes = (is: boolean) => t(is ? 'yes' : 'no')
  const level = tool.permission_level
  const facts: [string, ReactNode][] = [
    [
      t('drawer.available'),
      tool.available ? yes(true) : `${yes(false)}: ${reason(tool.unavailable_reason ?? '')}`,
    ],
    [t('list.kind'), t(`kind.${tool.kind}`)],
    [t('drawer.version'), tool.version],
    [t('editor.category'), tool.category],
    [t('editor.tags'), tool.tags.join(', ') || '–'],
    [t('editor.permission_level'), level ? t(`level.${level}`) : t('level.none')],
    [t('editor.permission_policy'), t(`policy.${tool.permission_policy ?? 'derived'}`)],
    [t('editor.required_permission'), tool.required_permission ?? '–'],
    [t('editor.implementation_type'), kinds(`kind.${execution}.name`, { defaultValue: execution })],
    [t('editor.timeout'), timeWords(tool.timeout_ms)],
    [t('drawer.published'), tool.published_at ? <Moment at={tool.published_at} /> : '–'],
  ]
  return <FactList facts={facts} />
}
