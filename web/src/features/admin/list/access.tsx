import { useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleX } from 'lucide-react'
import { useState } from 'react'

import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { useServerWords } from '~/i18n/server-words'
import { Badge } from '~/kit/badge'
import { Field, Select } from '~/kit/field'
import { Fault, Skeleton } from '~/kit/states'
import { explanationOf, keys, people } from '../queries'
import type { Check, Explanation } from '../types'

const TONES = { allow: 'good', ask: 'warn', deny: 'bad' } as const

/** Whether somebody sees a tool and may call it, and every step on the way to that answer. */
export function Access({ slug }: { slug: string }) {
  const { t } = useTranslation('admin')
  const [subject, setSubject] = useState('me')
  const { data, error } = useQuery(explanationOf(slug, subject))
  const users = useQuery({ ...people, enabled: useMay('members.tenant.read') })
  const apiKeys = useQuery({ ...keys, enabled: useMay('keys.tenant.read') })
  const live = apiKeys.data?.items.filter((key) => !key.revoked_at) ?? []
  return (
    <div className="grid gap-3">
      <Field id="subject" label={t('access.for')}>
        <Select id="subject" value={subject} onChange={(event) => setSubject(event.target.value)}>
          <option value="me">{t('access.me')}</option>
          {users.data && (
            <optgroup label={t('access.people')}>
              {users.data.items.map((user) => (
                <option key={user.id} value={`user:${user.id}`}>
                  {user.display_name} ({user.role})
                </option>
              ))}
            </optgroup>
          )}
          {live.length > 0 && (
            <optgroup label={t('access.keys')}>
              {live.map((key) => (
                <option key={key.id} value={`key:${key.id}`}>
                  {key.name || key.prefix} ({key.agent ?? key.role})
                </option>
              ))}
            </optgroup>
          )}
        </Select>
      </Field>
      <div aria-live="polite">
        {error ? (
          <Fault error={error} />
        ) : data ? (
          <Told answer={data} />
        ) : (
          <Skeleton className="h-16" />
        )}
      </div>
    </div>
  )
}

/** What the answer says, by its codes; what is not known here stays as it came. */
function useAccessWords() {
  const { t } = useTranslation('admin')
  const words = useServerWords()
  const check = ({ check, passed, reason }: Check) =>
    t(`access.${passed ? 'yes' : 'no'}.${check}`, { defaultValue: reason })
  const decision = ({ checks, rule, reason }: Explanation) => {
    const failed = checks.find(({ passed }) => !passed)
    if (failed) return check(failed)
    return t(`access.rule.${rule}`, { defaultValue: words.reason({ rule, reason }) })
  }
  return { check, decision }
}

function Told({ answer }: { answer: Explanation }) {
  const { t } = useTranslation('admin')
  const words = useAccessWords()
  return (
    <div className="grid gap-2">
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone={answer.visible ? 'good' : 'bad'}>
          {t(answer.visible ? 'access.sees' : 'access.sees_not')}
        </Badge>
        <Badge tone={TONES[answer.decision]}>{t(`access.${answer.decision}`)}</Badge>
        <span className="min-w-0 break-words">{words.decision(answer)}</span>
      </p>
      <details>
        <summary className="cursor-pointer text-muted">{t('access.steps')}</summary>
        <ul className="mt-2 grid gap-1.5">
          {answer.checks.map((one) => (
            <li key={one.check} className="flex items-start gap-2">
              {one.passed ? (
                <CircleCheck
                  aria-label={t('access.passed')}
                  className="mt-0.5 size-4 shrink-0 text-good"
                />
              ) : (
                <CircleX
                  aria-label={t('access.failed')}
                  className="mt-0.5 size-4 shrink-0 text-bad"
                />
              )}
              <span className="min-w-0 break-words">{words.check(one)}</span>
            </li>
          ))}
        </ul>
      </details>
    </div>
  )
}
