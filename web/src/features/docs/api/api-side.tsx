import { Link, useNavigate } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import { useState } from 'react'

import { useTranslation } from '~/i18n'
import { FindBox, Fold, Found, sideLink } from '../side'
import { grouped, matching, type Operation } from './model'
import { MethodBadge } from './words'

/** Every operation, by what it is about, and a search over them. */
export function ApiSide({ operations, current }: { operations: Operation[]; current?: Operation }) {
  const { t } = useTranslation('docs')
  const [typed, setTyped] = useState('')
  const navigate = useNavigate()
  const found = matching(operations, typed)
  const isSearching = typed.trim() !== ''
  const go = () => {
    const first = found[0]
    if (first && isSearching) {
      void navigate({ to: '/docs/api/$operation', params: { operation: first.id } })
    }
  }
  return (
    <div className="grid min-w-0 gap-3">
      <FindBox label={t('api.search')} value={typed} onChange={setTyped} onEnter={go} />
      {isSearching && <Found count={found.length} />}
      <nav aria-label={t('api.operations')} className="grid min-w-0 gap-1">
        <Link
          to="/docs"
          activeOptions={{ exact: true }}
          className={`${sideLink} flex items-center gap-1.5`}
        >
          <ArrowLeft aria-hidden className="size-4" />
          {t('title')}
        </Link>
        <Link to="/docs/api" activeOptions={{ exact: true }} className={sideLink}>
          {t('api.overview')}
        </Link>
        {grouped(found).map(([tag, inTag]) => (
          <Fold
            key={`${tag} ${isSearching} ${current?.tag === tag}`}
            title={t(`api.tag.${tag}`, { defaultValue: tag })}
            open={isSearching || current?.tag === tag}
          >
            <ul className="grid min-w-0">
              {inTag.map(({ id, method, path }) => (
                <li key={id} className="min-w-0">
                  <Link
                    to="/docs/api/$operation"
                    params={{ operation: id }}
                    title={path}
                    className={`${sideLink} flex items-center gap-2`}
                  >
                    <MethodBadge method={method} className="w-12" />
                    {/* The end of a path tells operations apart, so the beginning may be cut off. */}
                    <span className="min-w-0 truncate font-mono text-xs [direction:rtl]">
                      <bdi>{path.replace(/^\/api/, '')}</bdi>
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
          </Fold>
        ))}
      </nav>
    </div>
  )
}
