import { Link2, Sparkles } from 'lucide-react'
import { useDeferredValue, useMemo } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { CopyButton } from '~/kit/copy'
import type { Tool } from './queries'
import { examples, linkTo } from './tool-input'

interface ExamplesProps {
  tool: Tool
  onChoose: (input: unknown) => void
}

/** Inputs to start from. What is in one is shown to those who point at it. */
export function ToolExamples({ tool, onChoose }: ExamplesProps) {
  const { t } = useTranslation('tool')
  const found = useMemo(() => examples(tool.input_schema), [tool.input_schema])
  if (found.length === 0) return null
  return (
    <ul aria-label={t('examples')} className="flex min-w-0 flex-wrap items-center gap-2">
      {found.map(({ about, input }, index) => (
        <li key={index}>
          <Button
            size="small"
            className="rounded-full font-normal"
            title={about || undefined}
            onClick={() => onChoose(input)}
          >
            <Sparkles aria-hidden />
            {t('example', { number: index + 1 })}
          </Button>
        </li>
      ))}
    </ul>
  )
}

interface LinkProps {
  tool: Tool
  value: unknown
}

/** A link to the tool with what the form holds. */
export function CopyLink({ tool, value }: LinkProps) {
  const { t } = useTranslation('tool')
  const given = useDeferredValue(value)
  const link = useMemo(() => linkTo(location.origin, tool.slug, given), [tool.slug, given])
  if (link !== undefined) return <CopyButton text={link} label={t('copy_link')} />
  return (
    <Button size="small" disabled title={t('link_too_long')}>
      <Link2 aria-hidden />
      {t('copy_link')}
    </Button>
  )
}
