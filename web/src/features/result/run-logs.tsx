import { useTranslation } from '~/i18n'

/** What the tool wrote to its log. */
export function RunLogs({ lines }: { lines: string[] }) {
  const { t } = useTranslation('result')
  return (
    <details open className="grid min-w-0 gap-1.5">
      <summary className="cursor-pointer font-medium">{t('logs')}</summary>
      <pre
        tabIndex={0}
        aria-label={t('logs')}
        className="mt-1.5 max-h-80 min-w-0 overflow-auto rounded-md border border-line bg-raised p-3 font-mono text-xs break-words whitespace-pre-wrap"
      >
        {lines.join('\n')}
      </pre>
    </details>
  )
}
