import { Link, useLocation } from '@tanstack/react-router'
import { Hammer, Moon, Sun } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { showTheme, useTheme } from '~/theme'
import { Frame } from './frame'

const tab =
  'rounded-md px-2.5 py-1.5 font-medium text-muted hover:bg-raised hover:text-text [&.active]:bg-accent-soft [&.active]:text-accent'

/** The frame around pages that everybody may read, for those who have not signed in. */
export default function OpenShell() {
  const { t } = useTranslation()
  const { href } = useLocation()
  const theme = useTheme()
  const Icon = theme === 'dark' ? Sun : Moon
  return (
    <Frame
      barClass="px-3"
      bar={
        <>
          <Link to="/docs" className="flex items-center gap-2 font-semibold">
            <Hammer aria-hidden className="size-5 text-accent" />
            <span className="max-sm:sr-only">Toolwright</span>
          </Link>
          <nav aria-label={t('nav.label')} className="flex min-w-0 items-center gap-1">
            <Link to="/docs" activeOptions={{ exact: true }} className={tab}>
              <span className="sm:hidden">{t('nav_short.docs')}</span>
              <span className="max-sm:hidden">{t('nav.docs')}</span>
            </Link>
            <Link to="/docs/api" className={tab}>
              <span className="sm:hidden">{t('nav_short.api_docs')}</span>
              <span className="max-sm:hidden">{t('nav.api_docs')}</span>
            </Link>
          </nav>
          <div className="ml-auto flex shrink-0 items-center gap-1">
            <Button
              tone="quiet"
              size="icon"
              aria-label={t(theme === 'dark' ? 'nav.to_light' : 'nav.to_dark')}
              onClick={() => showTheme(theme === 'dark' ? 'light' : 'dark')}
            >
              <Icon aria-hidden />
            </Button>
            <Button asChild tone="primary" size="small">
              <Link to="/sign-in" search={{ next: href }}>
                {t('nav.sign_in')}
              </Link>
            </Button>
          </div>
        </>
      }
    />
  )
}
