import { CloudOff } from 'lucide-react'
import {
  Component,
  type ComponentType,
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
  useState,
} from 'react'

import { useTranslation } from '~/i18n'
import { Button } from './button'
import { deployedScript, isOtherVersion, NotLoaded } from './not-loaded'
import { useServerBack } from './server-back'

/**
 * A part of a page that is loaded when it is first shown.
 *
 *     const Chart = lazyPart(() => import('./chart'), (module) => module.default)
 *     <Chart fallback={<Skeleton />} option={option} />
 *
 * One that does not come says so in its place and can be tried again. The rest of the page stays, and with it
 * whatever somebody has typed there.
 */
export function lazyPart<Module, Props extends object>(
  load: () => Promise<Module>,
  pick: (module: Module) => ComponentType<Props>,
) {
  const begin = (get: () => Promise<Module>) =>
    lazy(async () => {
      try {
        return { default: pick(await get()) }
      } catch (error) {
        throw new NotLoaded(error)
      }
    })
  // What failed once stays failed, so whoever comes later gets another.
  let latest = begin(load)
  return function Part({ fallback, ...props }: Props & { fallback?: ReactNode }) {
    const [{ Loaded, tries }, setTried] = useState({ Loaded: latest, tries: 1 })
    return (
      <Boundary
        key={tries}
        onFailed={() => {
          if (latest === Loaded) latest = begin(() => loadAgain(load))
        }}
        failed={
          <PartNotLoaded
            tries={tries}
            onAgain={() => setTried({ Loaded: latest, tries: tries + 1 })}
          />
        }
      >
        <Suspense fallback={fallback}>
          <Loaded {...(props as Props)} />
        </Suspense>
      </Boundary>
    )
  }
}

const SCRIPT = /https?:\S+\/assets\/[^\s?]+\.js/

/** Some browsers remember that a script failed, by its address. They tell it, and by another one it is tried anew. */
async function loadAgain<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (error) {
    const address = SCRIPT.exec(String(error))?.[0]
    if (!address?.startsWith(`${location.origin}/`)) throw error
    return import(/* @vite-ignore */ `${address}?again=${Date.now()}`)
  }
}

interface BoundaryProps {
  onFailed: () => void
  failed: ReactNode
  children: ReactNode
}

/** Keeps what did not load from the page; any other fault is not its business. */
class Boundary extends Component<BoundaryProps, { error?: unknown }> {
  override state: { error?: unknown } = {}

  static getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override componentDidCatch(error: unknown) {
    if (error instanceof NotLoaded) this.props.onFailed()
  }

  override render() {
    const { error } = this.state
    if (error === undefined) return this.props.children
    if (error instanceof NotLoaded) return this.props.failed
    throw error
  }
}

/**
 * What stands in the place of a part. The page is loaded anew only when a person says so, for it may hold what they
 * have typed; that is offered where another try does not help, as when another version of the app does not have the part
 * any more.
 */
function PartNotLoaded({ tries, onAgain }: { tries: number; onAgain: () => void }) {
  const { t } = useTranslation()
  const [why, setWhy] = useState<'away' | 'new_version'>()
  useEffect(() => {
    let isShown = true
    deployedScript().then(
      (script) => isShown && isOtherVersion(script) && setWhy('new_version'),
      () => isShown && setWhy('away'),
    )
    return () => {
      isShown = false
    }
  }, [])
  useServerBack(why === 'away', onAgain)
  const canReload = why === 'new_version' || (tries > 1 && why !== 'away')
  return (
    <div
      role="alert"
      className="grid min-w-0 justify-items-start gap-3 rounded-lg border border-dashed border-line p-4"
    >
      <p className="flex min-w-0 items-start gap-2">
        <CloudOff aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" />
        <span className="min-w-0">
          <span className="font-medium">{t('part_not_loaded')}</span>{' '}
          {why === 'away' && t('not_loaded_away')}
          {why === 'new_version' && t('part_new_version')}
        </span>
      </p>
      <div className="flex flex-wrap gap-2">
        {why !== 'new_version' && (
          <Button size="small" onClick={onAgain}>
            {t('try_again')}
          </Button>
        )}
        {canReload && (
          <Button size="small" onClick={() => location.reload()}>
            {t('reload')}
          </Button>
        )}
      </div>
    </div>
  )
}
