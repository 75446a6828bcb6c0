import { type ReactNode, useDeferredValue, useId, useMemo, useState } from 'react'

import { stringify } from '~/api/exact'
import { translated } from '~/api/translated'
import { useTranslation } from '~/i18n'
import { CopyButton } from '~/kit/copy'
import { Select } from '~/kit/field'
import { lazyPart } from '~/kit/lazy-part'
import { Skeleton } from '~/kit/states'
import { useEditing } from '../editor/context'
import { Unbroken } from '../editor/test-panel'
import { dependsOnOthers, FUNCTIONS, mcpToolOf, operationOf } from './specs'

// The form brings a whole engine with it.
const ToolForm = lazyPart(
  () => import('~/features/form/tool-form'),
  (module) => module.ToolForm,
)

/** The tool as people, MCP clients, programs and models see it, side by side, as it is typed. */
export default function PreviewTab() {
  const { t } = useTranslation('admin')
  const { base, definition, isDirty } = useEditing()
  const shown = useDeferredValue(definition)
  const [format, setFormat] = useState<keyof typeof FUNCTIONS>('openai')
  return (
    <div className="grid min-w-0 gap-4">
      <p className="text-muted">{t(isDirty || !base ? 'test.unsaved' : 'test.saved')}</p>
      <div className="grid min-w-0 items-start gap-4 lg:grid-cols-2">
        <FormCard />
        <JsonCard
          title={t('preview.mcp')}
          hint={t(dependsOnOthers(shown) ? 'preview.mcp_depends' : 'preview.mcp_hint')}
          value={mcpToolOf(shown, location.origin)}
        />
        <JsonCard
          title={t('preview.openapi')}
          hint={t('preview.openapi_hint')}
          value={operationOf(shown)}
        />
        <JsonCard
          title={t('preview.function')}
          hint={t('preview.function_hint')}
          value={FUNCTIONS[format](shown)}
        >
          <Select
            aria-label={t('preview.format')}
            className="h-8 w-auto text-xs"
            value={format}
            onChange={({ target }) => setFormat(target.value as keyof typeof FUNCTIONS)}
          >
            <option value="openai">OpenAI</option>
            <option value="anthropic">Anthropic</option>
          </Select>
        </JsonCard>
      </div>
    </div>
  )
}

function FormCard() {
  const { t, language } = useTranslation('admin')
  const { definition } = useEditing()
  const { slug, ...written } = useDeferredValue(definition)
  const { input_schema, form_spec } = useMemo(
    () =>
      translated({ input_schema: written.input_schema, form_spec: written.form_spec }, language),
    [written.input_schema, written.form_spec, language],
  )
  const [input, setInput] = useState<unknown>({})
  return (
    <section
      aria-labelledby="preview-form"
      className="grid min-w-0 gap-3 rounded-lg border border-line p-4"
    >
      <div className="grid gap-1">
        <h2 id="preview-form" className="font-semibold">
          {t('preview.form')}
        </h2>
        <p className="text-xs text-muted">{t('preview.form_hint')}</p>
      </div>
      <Unbroken of={input_schema} text={t('test.no_form')}>
        <ToolForm
          fallback={<Skeleton className="h-32" />}
          tool={{ slug: slug || 'new', input_schema, form_spec }}
          value={input}
          onChange={setInput}
        />
      </Unbroken>
    </section>
  )
}

interface CardProps {
  title: string
  hint: string
  value: unknown
  children?: ReactNode
}

function JsonCard({ title, hint, value, children }: CardProps) {
  const id = useId()
  const text = stringify(value, 2)
  return (
    <section aria-labelledby={id} className="grid min-w-0 gap-3 rounded-lg border border-line p-4">
      <div className="flex min-w-0 flex-wrap items-start justify-between gap-2">
        <div className="grid min-w-0 flex-1 basis-40 gap-1">
          <h2 id={id} className="font-semibold">
            {title}
          </h2>
          <p className="text-xs text-muted">{hint}</p>
        </div>
        <div className="flex items-center gap-1">
          {children}
          <CopyButton text={text} name={title} />
        </div>
      </div>
      <pre
        tabIndex={0}
        aria-labelledby={id}
        role="group"
        className="max-h-112 min-w-0 overflow-auto rounded-md border border-line bg-raised p-3 font-mono text-xs"
      >
        {text}
      </pre>
    </section>
  )
}
