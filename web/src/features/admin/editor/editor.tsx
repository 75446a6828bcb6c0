import { Link, useBlocker, useNavigate } from '@tanstack/react-router'
import { Info } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'

import { queryClient } from '~/api/client'
import { useTranslation } from '~/i18n'
import { cn } from '~/kit/cn'
import { lazyPart } from '~/kit/lazy-part'
import { Skeleton } from '~/kit/states'
import { usePageName } from '~/kit/title'
import { toast } from '~/kit/toast'
import { DraftFaults, useWarnings } from '../publish/draft-faults'
import { toolOf } from '../queries'
import { SchemaTab } from '../schema/schema-tab'
import { EDITOR_TABS, type EditorTab, type ToolEditorSearch } from '../search'
import { isOfProgram, type Tool } from '../types'
import { VersionsTab } from '../versions/versions-tab'
import { Conflict } from './conflict'
import { EditingContext, useEditing } from './context'
import { placeOf } from './definition'
import { plainly } from './fault-words'
import { Faults } from './faults'
import { Leave } from './leave'
import { canPublish, SAVE_ID, SaveBar } from './save-bar'
import { ExecutionTab } from './tab-execution'
import { IdentityTab } from './tab-identity'
import { VisibilityTab } from './tab-visibility'
import { TestPanel } from './test-panel'
import { useEditor } from './use-editor'

/** The button by which a new tool was saved: on the page that it gets somebody goes on from the same one. */
let savedBy: string | undefined

// Whoever only writes does not load how others see it.
const PreviewTab = lazyPart(
  () => import('../preview/preview-tab'),
  (module) => module.default,
)

const CasesTab = lazyPart(
  () => import('../cases/cases-tab'),
  (module) => module.default,
)

const PublishDialog = lazyPart(
  () => import('../publish/publish-dialog'),
  (module) => module.default,
)

/** Makes a tool, or changes one. */
export function ToolEditor({ tool, search }: { tool?: Tool; search: ToolEditorSearch }) {
  const { t } = useTranslation('admin')
  const navigate = useNavigate()
  const [isPublishing, setPublishing] = useState(false)
  usePageName(tool && t('title.edit_of', { tool: tool.name, ns: 'app' }))
  const editor = useEditor({
    tool,
    kind: search.kind,
    words: (fault, definition) => plainly(t, fault, definition),
    onSaved: (saved, wantsPublished) => {
      // Whether it is published is decided in the dialog, which says so itself.
      const publish = wantsPublished || undefined
      if (!publish) toast(t('editor.saved', { name: saved.name }))
      if (tool && !publish) return
      const params = { slug: saved.slug }
      const page = {
        to: '/admin/tools/$slug/edit',
        params,
        search: { ...search, kind: undefined, publish },
      } as const
      if (!tool) savedBy = SAVE_ID[publish ? 'publish' : 'draft']
      void navigate({ ...page, replace: true, ignoreBlocker: true, resetScroll: false })
    },
  })
  useEffect(() => {
    if (!tool || !savedBy) return
    document.getElementById(savedBy)?.focus()
    savedBy = undefined
  }, [tool])
  const blocker = useBlocker({
    // Without its kind a new tool is back at the choice of one.
    shouldBlockFn: ({ current, next }) =>
      editor.isDirty &&
      (current.pathname !== next.pathname || kindIn(current.search) !== kindIn(next.search)),
    enableBeforeUnload: () => editor.isDirty,
    withResolver: true,
  })
  const closePublish = () =>
    void navigate({
      to: '.',
      search: { ...search, publish: undefined },
      replace: true,
      resetScroll: false,
    })
  const readAgain = async () => {
    if (!editor.base) return
    closePublish()
    editor.reset(await queryClient.fetchQuery({ ...toolOf(editor.base.slug), staleTime: 0 }))
  }
  const tab = search.tab ?? 'identity'
  const isOverride = tool !== undefined && isOfProgram(tool)
  return (
    <EditingContext value={{ ...editor, isOverride }}>
      {/* Once it is made, its own page takes over: what is typed into this one would be lost. */}
      <div className="grid min-w-0 gap-5" inert={!tool && (editor.busy || Boolean(editor.base))}>
        <SaveBar onSave={setPublishing} />
        {isOverride && <Note>{t('editor.override_note')}</Note>}
        {editor.theirs && (
          <Conflict key={editor.theirs.etag} theirs={editor.theirs} isPublishing={isPublishing} />
        )}
        <Faults search={search} />
        {editor.base && !isOverride && editor.faults.length === 0 && (
          <Warnings tool={editor.base} />
        )}
        <Tabs tab={tab} search={search} />
        {tab === 'preview' ? (
          <PreviewTab fallback={<Skeleton className="h-96" />} />
        ) : tab === 'versions' || tab === 'tests' ? (
          !editor.base || isOverride ? (
            <p className="text-muted">{t(`${tab}.${isOverride ? 'of_program' : 'none_yet'}`)}</p>
          ) : tab === 'tests' ? (
            <CasesTab fallback={<Skeleton className="h-40" />} tool={editor.base} />
          ) : (
            <VersionsTab tool={editor.base} search={search} />
          )
        ) : (
          <div className="grid min-w-0 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,24rem)] xl:grid-cols-[minmax(0,1fr)_minmax(0,28rem)]">
            <div className="min-w-0">
              {tab === 'identity' && <IdentityTab />}
              {tab === 'visibility' && <VisibilityTab />}
              {tab === 'schema' && <SchemaTab search={search} />}
              {tab === 'execution' && <ExecutionTab />}
            </div>
            <TestPanel />
          </div>
        )}
      </div>
      {search.publish && editor.base && canPublish(editor.base) && (
        <PublishDialog
          tool={editor.base}
          onClose={closePublish}
          onPublished={editor.reset}
          onStale={() => void readAgain()}
        />
      )}
      {blocker.status === 'blocked' && <Leave onLeave={blocker.proceed} onStay={blocker.reset} />}
    </EditingContext>
  )
}

/** What keeps the draft from going live, and what could be better, as its save told. */
function Warnings({ tool }: { tool: Tool }) {
  const { refused, advice } = useWarnings(tool)
  return (
    <>
      <DraftFaults tool={tool} faults={refused} as="warnings" />
      <DraftFaults tool={tool} faults={advice} as="advice" />
    </>
  )
}

function kindIn(search: unknown): unknown {
  return (search as ToolEditorSearch).kind
}

function Note({ children }: { children: ReactNode }) {
  return (
    <p className="flex items-start gap-2 rounded-lg border border-line bg-raised p-3">
      <Info aria-hidden className="mt-0.5 size-4 shrink-0 text-accent" />
      <span>{children}</span>
    </p>
  )
}

/** The parts of the editor, as links: each has its own address. */
function Tabs({ tab, search }: { tab: EditorTab; search: ToolEditorSearch }) {
  const { t } = useTranslation('admin')
  const { faults } = useEditing()
  return (
    <nav
      aria-label={t('editor.tabs')}
      className="-mb-1 flex flex-wrap border-b border-line sm:gap-x-1"
    >
      {EDITOR_TABS.map((one) => {
        const count = faults.filter(({ path }) => placeOf(path).tab === one).length
        return (
          <Link
            key={one}
            to="."
            search={{ ...search, tab: one }}
            replace
            resetScroll={false}
            aria-current={one === tab ? 'page' : undefined}
            className={cn(
              '-mb-px border-b-2 border-transparent px-1.5 py-2 font-medium sm:px-2.5 text-muted hover:text-text',
              { 'border-accent text-accent hover:text-accent': one === tab },
            )}
          >
            {t(`editor.tab_${one}`)}
            {count > 0 && (
              <span className="ml-1.5 rounded-full bg-bad-soft px-1.5 text-xs text-bad">
                {count}
                <span className="sr-only"> {t('editor.tab_faults')}</span>
              </span>
            )}
          </Link>
        )
      })}
    </nav>
  )
}
