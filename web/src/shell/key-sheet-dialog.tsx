import { useTranslation } from '~/i18n'
import { Dialog } from '~/kit/dialog'
import { useSingleKeys } from '~/kit/keys'
import { type Key, showSheet, useSheet } from '~/kit/page-keys'

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.userAgent)

/** The keys that work on every page. */
const EVERYWHERE: readonly Key[] = [
  [IS_MAC ? '⌘ K' : 'Ctrl K', 'palette_key'],
  ['?', 'sheet'],
]

/** The keys of the page and of every page, and the switch for those who do not want them. */
export default function KeySheetDialog() {
  const { t } = useTranslation('keys')
  const { keys } = useSheet()
  const [on, setOn] = useSingleKeys()
  const groups = [
    ['page', keys],
    ['everywhere', EVERYWHERE],
  ] as const
  return (
    <Dialog open onClose={() => showSheet(false)} title={t('title')}>
      <div className="grid gap-5">
        {groups
          .filter(([, keys]) => keys.length > 0)
          .map(([group, keys]) => (
            <section key={group} className="grid gap-2">
              <h3 className="text-xs font-medium text-muted">{t(`group.${group}`)}</h3>
              <dl className="grid grid-cols-[5rem_1fr] items-center gap-x-4 gap-y-2">
                {keys.map(([key, name]) => (
                  <div key={key} className="contents">
                    <dt>
                      <kbd className="inline-block min-w-7 rounded border border-line bg-raised px-2 py-0.5 text-center font-mono text-xs">
                        {key}
                      </kbd>
                    </dt>
                    <dd>{t(name)}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        <label className="flex cursor-pointer items-center gap-2 font-medium">
          <input
            type="checkbox"
            role="switch"
            className="size-4 accent-accent"
            checked={on}
            onChange={(event) => setOn(event.target.checked)}
          />
          {t('on')}
        </label>
      </div>
    </Dialog>
  )
}
