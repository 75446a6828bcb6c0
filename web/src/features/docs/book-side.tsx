import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'

import { useTranslation } from '~/i18n'
import { findIn, type Hit } from './find'
import { type BookPage, SECTIONS } from './queries'
import { FindBox, Fold, Found, sideLink } from './side'

/** The pages of the book, and a search over their titles and headings. */
export function BookSide({ pages, current }: { pages: BookPage[]; current?: BookPage }) {
  const { t } = useTranslation('docs')
  const [typed, setTyped] = useState('')
  const navigate = useNavigate()
  const hits = findIn(pages, typed)
  const go = () => {
    const first = hits[0]
    if (!first) return
    setTyped('')
    void navigate({ to: first.page.path, hash: first.anchor })
  }
  return (
    <div className="grid min-w-0 gap-3">
      <FindBox label={t('search')} value={typed} onChange={setTyped} onEnter={go} />
      {typed.trim() ? (
        <Hits hits={hits} onLeave={() => setTyped('')} />
      ) : (
        <nav aria-label={t('pages')} className="grid min-w-0 gap-1">
          <Link to="/docs/api" className={sideLink}>
            {t('api.title')}
          </Link>
          {SECTIONS.map((section) => (
            <Fold
              key={`${section} ${current?.section === section}`}
              title={t(`section.${section}`)}
              open={section === 'guide' || current?.section === section}
            >
              <ul className="ml-3 grid min-w-0 border-l border-line pl-2">
                {pages
                  .filter((page) => page.section === section)
                  .map((page) => (
                    <li key={page.path} className="min-w-0">
                      <Link
                        to={page.path}
                        activeOptions={{ exact: true, includeHash: false }}
                        className={sideLink}
                      >
                        {shortTitle(page)}
                      </Link>
                    </li>
                  ))}
              </ul>
            </Fold>
          ))}
        </nav>
      )}
    </div>
  )
}

/** The name of a page among others of its kind. */
export function shortTitle({ title, section }: BookPage): string {
  return section === 'tools' ? title.replace(/ \([^)]*\)$/, '') : title
}

function Hits({ hits, onLeave }: { hits: Hit[]; onLeave: () => void }) {
  const { t } = useTranslation('docs')
  return (
    <>
      <Found count={hits.length} />
      <nav aria-label={t('results')}>
        <ul className="grid min-w-0">
          {hits.map(({ page, heading, anchor }) => (
            <li key={`${page.path}#${anchor ?? ''}`} className="min-w-0">
              <Link
                to={page.path}
                hash={anchor}
                onClick={onLeave}
                className="block min-w-0 rounded-md px-2 py-1.5 hover:bg-raised"
              >
                <span className="block truncate font-medium">{heading ?? shortTitle(page)}</span>
                <span className="block truncate text-xs text-muted">
                  {heading ? shortTitle(page) : page.summary || t(`section.${page.section}`)}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      </nav>
    </>
  )
}
