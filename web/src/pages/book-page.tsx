import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { ArrowLeft, ArrowRight, FileText } from 'lucide-react'
import { useEffect, useMemo } from 'react'

import { BookSide, shortTitle } from '~/features/docs/book-side'
import { Crumbs } from '~/features/docs/crumbs'
import { headingsOf } from '~/features/docs/headings'
import { type BookPage, book, pageText } from '~/features/docs/queries'
import { SideFrame } from '~/features/docs/side'
import { useTranslation } from '~/i18n'
import { lazyPart } from '~/kit/lazy-part'
import { Empty, Fault, Loading } from '~/kit/states'
import { usePageName } from '~/kit/title'

const BookMarkdown = lazyPart(
  () => import('~/features/docs/book-markdown'),
  (module) => module.default,
)

export default function BookPageView() {
  const { t } = useTranslation('docs')
  const { pathname } = useLocation()
  const pages = useQuery(book)
  if (pages.error) return <Fault error={pages.error} onRetry={() => void pages.refetch()} />
  if (!pages.data) return <Loading />
  const wanted = pathname.replace(/(\/|\.md)$/, '').toLowerCase()
  const page = pages.data.find(({ path }) => path.toLowerCase() === wanted)
  return (
    <SideFrame label={t('pages')} side={<BookSide pages={pages.data} current={page} />}>
      {page ? <Shown key={page.path} page={page} pages={pages.data} /> : <Missing />}
    </SideFrame>
  )
}

function Missing() {
  const { t } = useTranslation('docs')
  return (
    <Empty title={t('missing')}>
      <Link to="/docs" className="text-accent underline">
        {t('to_start')}
      </Link>
    </Empty>
  )
}

function Shown({ page, pages }: { page: BookPage; pages: BookPage[] }) {
  const { t } = useTranslation('docs')
  const text = useQuery(pageText(page.markdown))
  const found = useMemo(() => headingsOf(text.data ?? ''), [text.data])
  // The first page is called as the program is, which the title says anyway.
  usePageName(page.path === '/docs' ? t('title.docs', { ns: 'app' }) : shortTitle(page))
  useScrollToAnchor(text.data !== undefined)
  if (text.error) return <Fault error={text.error} onRetry={() => void text.refetch()} />
  const steps = [
    { to: '/docs', label: t('title') },
    ...(page.section === 'errors' ? [{ to: '/docs/errors', label: t('section.errors') }] : []),
  ]
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-10 xl:grid-cols-[minmax(0,1fr)_13rem]">
      <div className="min-w-0">
        {page.path !== '/docs' && <Crumbs steps={steps} />}
        {/* The book is written in one language, whatever the pages around it speak. */}
        <article lang="en" className="min-w-0">
          {text.data === undefined ? (
            <Loading />
          ) : (
            <BookMarkdown fallback={<Loading />} text={text.data} markdown={page.markdown} />
          )}
        </article>
        <Neighbours page={page} pages={pages} />
        <p className="mt-6 text-xs text-muted">
          <a href={page.markdown} className="inline-flex items-center gap-1.5 underline">
            <FileText aria-hidden className="size-3.5" />
            {t('as_markdown')}
          </a>
        </p>
      </div>
      {found.length > 1 && (
        <nav
          aria-label={t('on_this_page')}
          className="hidden self-start xl:sticky xl:top-20 xl:block"
        >
          <p className="mb-2 text-xs font-medium">{t('on_this_page')}</p>
          <ul lang="en" className="grid max-h-[75dvh] gap-0.5 overflow-y-auto border-l border-line">
            {found
              .filter(({ level }) => level < 4)
              .map(({ id, text, level }) => (
                <li key={id}>
                  <a
                    href={`#${id}`}
                    className={`block py-1 text-xs text-muted hover:text-text ${level > 2 ? 'pl-6' : 'pl-3'}`}
                  >
                    {text}
                  </a>
                </li>
              ))}
          </ul>
        </nav>
      )}
    </div>
  )
}

/** What comes before and after in the same part of the book. */
function Neighbours({ page, pages }: { page: BookPage; pages: BookPage[] }) {
  const { t } = useTranslation('docs')
  const same = pages.filter(({ section }) => section === page.section)
  const place = same.indexOf(page)
  const [before, after] = [same[place - 1], same[place + 1]]
  const look =
    'flex min-w-0 items-center gap-2 rounded-lg border border-line px-3 py-2.5 font-medium hover:bg-raised'
  return (
    <nav
      aria-label={t('neighbours')}
      className="mt-10 grid gap-3 border-t border-line pt-6 sm:grid-cols-2"
    >
      {before && (
        <Link to={before.path} rel="prev" className={look}>
          <ArrowLeft aria-hidden className="size-4 shrink-0" />
          <span className="min-w-0 truncate">{shortTitle(before)}</span>
        </Link>
      )}
      {after && (
        <Link to={after.path} rel="next" className={`${look} justify-end sm:col-start-2`}>
          <span className="min-w-0 truncate">{shortTitle(after)}</span>
          <ArrowRight aria-hidden className="size-4 shrink-0" />
        </Link>
      )}
    </nav>
  )
}

/** A page comes after its address: only when it is there can it be scrolled to what the address names. */
function useScrollToAnchor(isThere: boolean) {
  const { hash } = useLocation()
  useEffect(() => {
    if (!isThere || !hash) return
    const look = () => document.getElementById(decodeURIComponent(hash))
    const there = look()
    if (there) return there.scrollIntoView()
    const observer = new MutationObserver(() => {
      const came = look()
      if (!came) return
      observer.disconnect()
      came.scrollIntoView()
    })
    observer.observe(document.body, { childList: true, subtree: true })
    return () => observer.disconnect()
  }, [isThere, hash])
}
