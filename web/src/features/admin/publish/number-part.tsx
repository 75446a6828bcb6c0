import { TriangleAlert } from 'lucide-react'

import type { Problem } from '~/api/problem'
import { useTranslation } from '~/i18n'
import { errorWords } from '~/i18n/server-words'
import { cn } from '~/kit/cn'
import { Field, Input } from '~/kit/field'
import type { Tool } from '../types'
import type { Bump } from '../versions/semver'
import type { NumberChoice } from './decision'

interface Props {
  ids: { version: string; confirm: string }
  tool: Tool
  live: string | undefined
  bump: Bump
  number: NumberChoice
  /** Why the server would not have it. */
  refused: Problem | undefined
  onType: (version: string) => void
  confirmed: string
  onConfirm: (text: string) => void
}

/** The number of a publication. One that is lower than the changes ask for has to be confirmed by hand. */
export function NumberPart(props: Props) {
  const { ids, tool, live, bump, number, refused, onType } = props
  const { t } = useTranslation('publish')
  const fault = number.fault
    ? t(`number.${number.fault}`, { version: tool.version })
    : refused && errorWords(refused)
  const hint = live === undefined ? t('number.first') : t(`number.${bump}`, { live })
  return (
    <div className="grid min-w-0 gap-3">
      <Field id={ids.version} label={t('number.label')} hint={hint} fault={fault}>
        <Input
          id={ids.version}
          className="w-40 font-mono"
          value={number.version}
          aria-invalid={fault !== undefined}
          aria-describedby={`${ids.version}-${fault ? 'fault' : 'hint'}`}
          onChange={(event) => onType(event.target.value)}
        />
      </Field>
      {number.isTooLow && <Confirm {...props} />}
    </div>
  )
}

function Confirm({ ids, tool, number, confirmed, onConfirm, live }: Props) {
  const { t } = useTranslation('publish')
  const { hidesBreak, version, proposed } = number
  const look = hidesBreak
    ? { box: 'border-bad bg-bad-soft', text: 'text-bad', why: 'confirm.why' }
    : { box: 'border-warn bg-warn-soft', text: 'text-warn', why: 'confirm.why_added' }
  return (
    <div className={cn('grid gap-3 rounded-lg border p-4', look.box)}>
      <p className={cn('flex items-start gap-2', look.text)}>
        <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
        {t(look.why, { live, version, proposed })}
      </p>
      <Field id={ids.confirm} label={t('confirm.label', { slug: tool.slug })}>
        <Input
          id={ids.confirm}
          autoComplete="off"
          spellCheck={false}
          className="font-mono"
          value={confirmed}
          onChange={(event) => onConfirm(event.target.value)}
        />
      </Field>
    </div>
  )
}
