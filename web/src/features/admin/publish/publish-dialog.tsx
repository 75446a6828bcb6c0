import { useQuery } from '@tanstack/react-query'
import { Rocket } from 'lucide-react'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { Fault, Skeleton } from '~/kit/states'
import { toast } from '~/kit/toast'
import { ReplayPart } from '../cases/replay-part'
import { focusSoon } from '../focus-soon'
import { UsedBy } from '../list/used-by'
import { comparisonOf } from '../queries'
import type { Comparison, Tool } from '../types'
import { Changes } from './changes'
import { chooseNumber } from './decision'
import { DraftFaults, useDraftFaults } from './draft-faults'
import { NumberPart } from './number-part'
import { TestsPart, useTests } from './tests-part'
import { type Publication, type Refusal, refusalOf, usePublish } from './use-publish'

interface Props {
  tool: Tool
  onClose: () => void
  onPublished?: (published: Tool) => void
  /** Reads the tool anew, after somebody else has changed it. */
  onStale: () => void
}

/**
 * Everything that counts before a draft goes live: what changes and for whom, its number, its test cases, and
 * what recorded calls give with it.
 */
export default function PublishDialog(props: Props) {
  const { tool, onClose } = props
  const { t } = useTranslation('publish')
  const hasLive = tool.published_at != null
  const compared = useQuery({ ...comparisonOf(tool.slug, 'live', 'draft'), enabled: hasLive })
  return (
    <Dialog
      open
      as="wide"
      title={t('title', { name: tool.name })}
      description={t(hasLive ? 'hint' : 'hint_first')}
      onClose={onClose}
    >
      {compared.error ? (
        <Fault error={compared.error} onRetry={() => void compared.refetch()} />
      ) : hasLive && !compared.data ? (
        <Skeleton className="h-64" />
      ) : (
        <Decision {...props} compared={compared.data} />
      )}
    </Dialog>
  )
}

/** The ids of what a refusal leads to. */
const PLACES = { version: 'publish-version', tests: 'publish-tests', confirm: 'publish-confirm' }

interface DecisionProps extends Props {
  /** None before the first publication. */
  compared: Comparison | undefined
}

function Decision({ tool, compared, onClose, onPublished, onStale }: DecisionProps) {
  const { t } = useTranslation(['publish', 'cases'])
  const [typed, setTyped] = useState<string>()
  const [confirmed, setConfirmed] = useState('')
  const [ignores, setIgnores] = useState(false)
  const publish = usePublish(tool, (published) => {
    toast(t('published', { name: published.name, version: published.version }))
    onClose()
    onPublished?.(published)
  })
  // What there is to decide may come after the dialog, which has put the focus somewhere else by then. The dialog
  // has its turn first: it remembers who had the focus before.
  useEffect(() => focusSoon(PLACES.version), [])
  const refusal = refusalOf(publish.error)
  // What the server says now counts, should it differ from what was read before.
  const seen = refusal.breaking ?? compared
  const number = chooseNumber({
    live: compared?.from,
    draft: tool.version,
    bump: seen?.required_bump ?? 'none',
    breaking: seen?.breaking ?? false,
    typed,
  })
  const faults = useDraftFaults(tool, refusal.draft)
  const tests = useTests(tool, refusal.tests)
  const isConfirmed = !number.isTooLow || confirmed.trim() === tool.slug
  const isHeld = faults.length > 0 || number.fault !== undefined || !isConfirmed
  const isBlocked = isHeld || (tests.failed > 0 && !ignores)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isBlocked || publish.isPending) return
    const publication: Publication = {
      ...(number.version !== tool.version && { version: number.version }),
      ...(number.hidesBreak && { accept_breaking: true }),
      ...(tests.failed > 0 && { ignore_tests: true }),
    }
    publish.mutate(publication, {
      onError: (error) => {
        const refused = refusalOf(error)
        // What ran here before is older.
        if (refused.tests) tests.run.reset()
        goTo(refused)
      },
    })
  }
  return (
    <form onSubmit={submit} noValidate className="grid min-w-0 gap-6">
      <DraftFaults tool={tool} faults={faults} onGo={onClose} />
      <Part title={t('changes')}>
        <Changes tool={tool} compared={seen} />
      </Part>
      <Part title={t('version')}>
        <NumberPart
          ids={PLACES}
          tool={tool}
          live={compared?.from}
          bump={seen?.required_bump ?? 'none'}
          number={number}
          refused={refusal.number}
          onType={setTyped}
          confirmed={confirmed}
          onConfirm={setConfirmed}
        />
      </Part>
      <Part title={t('used_by')}>
        <UsedBy slug={tool.slug} />
      </Part>
      <Part title={t('tests')} id={PLACES.tests}>
        <TestsPart tool={tool} tests={tests} ignores={ignores} onIgnore={setIgnores} />
      </Part>
      {compared && (
        <Part title={t('cases:replay.title')}>
          <ReplayPart tool={tool} />
        </Part>
      )}
      {refusal.other !== undefined && <Fault error={refusal.other} />}
      {refusal.isStale && <Stale onRead={onStale} />}
      <div className="sticky -bottom-5 -mx-5 -mb-5 flex flex-wrap items-center justify-end gap-2 border-t border-line bg-ground px-5 py-3">
        <p aria-live="polite" className="mr-auto text-xs text-muted">
          {isBlocked && t(`blocked.${whyBlocked(faults.length > 0, number.fault, isConfirmed)}`)}
        </p>
        <Button onClick={onClose}>{t('cancel', { ns: 'app' })}</Button>
        <Button
          type="submit"
          tone={number.hidesBreak || ignores ? 'danger' : 'primary'}
          disabled={isBlocked || publish.isPending || refusal.isStale === true}
        >
          <Rocket aria-hidden />
          {t(publish.isPending ? 'publishing' : 'publish', { version: number.version })}
        </Button>
      </div>
    </form>
  )
}

function whyBlocked(hasFaults: boolean, number: string | undefined, isConfirmed: boolean): string {
  if (hasFaults) return 'draft'
  if (number) return 'number'
  return isConfirmed ? 'tests' : 'confirm'
}

/** Puts the focus where what was refused is told. */
function goTo({ breaking, tests, number }: Refusal) {
  if (breaking) focusSoon(PLACES.confirm)
  else if (number) focusSoon(PLACES.version)
  else if (tests) focusSoon(PLACES.tests)
}

function Part({ title, id, children }: { title: string; id?: string; children: ReactNode }) {
  return (
    <section className="grid min-w-0 gap-2">
      <h3 id={id} tabIndex={id ? -1 : undefined} className="font-semibold outline-none">
        {title}
      </h3>
      {children}
    </section>
  )
}

function Stale({ onRead }: { onRead: () => void }) {
  const { t } = useTranslation('publish')
  return (
    <div role="alert" className="grid gap-2 rounded-lg border border-warn bg-warn-soft p-4">
      <p className="font-medium text-warn">{t('stale')}</p>
      <Button size="small" className="justify-self-start" onClick={onRead}>
        {t('read_again')}
      </Button>
    </div>
  )
}
