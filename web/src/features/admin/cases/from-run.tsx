import { useNavigate } from '@tanstack/react-router'

import type { Run } from '~/api/runs'
import { useLocale, useTranslation } from '~/i18n'
import { toast } from '~/kit/toast'
import type { Tool } from '../types'
import { CaseDialog } from './case-dialog'
import { caseOf } from './of-run'

interface Props {
  run: Run
  tool: Tool
  onClose: () => void
}

/** Makes a test case of a run: what it was given, and what came of it. */
export default function FromRun({ run, tool, onClose }: Props) {
  const { t } = useTranslation('cases')
  const navigate = useNavigate()
  const locale = useLocale()
  const time = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  const name = t('of_run', { time: time.format(new Date(run.started_at ?? run.requested_at)) })
  const open = () =>
    void navigate({
      to: '/admin/tools/$slug/edit',
      params: { slug: tool.slug },
      search: { tab: 'tests' },
    })
  return (
    <CaseDialog
      tool={tool}
      of={caseOf(run, name)}
      onClose={onClose}
      onSaved={(saved) =>
        toast(t('saved', { name: saved.name }), 'good', { label: t('open_all'), run: open })
      }
    />
  )
}
