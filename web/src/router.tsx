import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  parseSearchWith,
  type RouteComponent,
  redirect,
  stringifySearchWith,
} from '@tanstack/react-router'

import { queryClient } from '~/api/client'
import { parse, stringify } from '~/api/exact'
import { me } from '~/api/me'
import { Problem } from '~/api/problem'
import { credentialsSearch } from '~/features/admin/credentials/search'
import { callbackSearch } from '~/features/admin/mcp-servers/search'
import { toolEditorSearch, toolsAdminSearch } from '~/features/admin/search'
import { approvalsSearch, standingSearch } from '~/features/approvals/search'
import { runsSearch } from '~/features/runs/search'
import { signInSearch } from '~/features/sign-in/search'
import { librarySearch, toolSearch } from '~/features/tools/search'
import { loadTexts } from '~/i18n'
import { NotLoaded } from '~/kit/not-loaded'
import { PageFault, PageLoading, PageMissing, Shell } from '~/shell/shell'
import { Titled } from '~/shell/titled'

/**
 * A page, loaded with its texts when somebody goes there. Those for what the server says come with a refusal; pages that
 * check what is typed need them before. What the module is stays open here: its type leads back to the router's own.
 */
function page(load: () => Promise<unknown>, ...namespaces: string[]): RouteComponent {
  const both = async () => {
    try {
      const [module] = await Promise.all([load(), loadTexts(namespaces)])
      return module as { default: RouteComponent }
    } catch (error) {
      throw new NotLoaded(error)
    }
  }
  return lazyRouteComponent(both)
}

const root = createRootRoute({ component: Titled })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  staticData: { title: 'sign_in' },
  validateSearch: signInSearch,
  component: page(() => import('~/pages/sign-in-page'), 'sign-in'),
})

/** Everything behind the sign-in. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Shell,
  beforeLoad: async ({ location }) => {
    try {
      await queryClient.ensureQueryData(me)
    } catch (error) {
      if (error instanceof Problem && error.status === 401) {
        throw redirect({ to: '/sign-in', search: { next: location.href } })
      }
      throw error
    }
  },
})

/** What everybody may read: problems lead here, whoever meets them. */
const open = createRoute({
  getParentRoute: () => root,
  id: 'open',
  component: Open,
  beforeLoad: async () => ({ isSignedIn: await isSignedIn() }),
})

function Open() {
  return open.useRouteContext().isSignedIn ? <Shell /> : <OpenShell />
}

const OpenShell = page(() => import('~/shell/open-shell'))

/** Whether somebody has signed in. Who has not is asked once, not for every page. */
async function isSignedIn(): Promise<boolean> {
  const isStranger = (error: unknown) => error instanceof Problem && error.status === 401
  if (isStranger(queryClient.getQueryState(me.queryKey)?.error)) return false
  try {
    await queryClient.ensureQueryData(me)
    return true
  } catch (error) {
    if (isStranger(error)) return false
    throw error
  }
}

const DOCS_TEXTS = ['docs', 'result']

const docs = createRoute({
  getParentRoute: () => open,
  path: '/docs',
  staticData: { title: 'docs' },
  component: page(() => import('~/pages/book-page'), ...DOCS_TEXTS),
})

const doc = createRoute({
  getParentRoute: () => open,
  path: '/docs/$',
  staticData: { title: 'doc' },
  component: page(() => import('~/pages/book-page'), ...DOCS_TEXTS),
})

const apiReference = createRoute({
  getParentRoute: () => open,
  path: '/docs/api',
  staticData: { title: 'api_docs' },
  component: page(() => import('~/pages/api-page'), ...DOCS_TEXTS, 'form'),
})

const operation = createRoute({
  getParentRoute: () => open,
  path: '/docs/api/$operation',
  staticData: { title: 'operation' },
  component: page(() => import('~/pages/api-page'), ...DOCS_TEXTS, 'form'),
})

/** Where programs and people look for the reference first. */
const apiDocs = createRoute({
  getParentRoute: () => root,
  path: '/api/docs',
  beforeLoad: () => {
    throw redirect({ to: '/docs/api', replace: true })
  },
})

const home = createRoute({
  getParentRoute: () => inside,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/tools', search: {} })
  },
})

const library = createRoute({
  getParentRoute: () => inside,
  path: '/tools',
  staticData: { title: 'tools' },
  validateSearch: librarySearch,
  component: page(() => import('~/pages/library-page'), 'library'),
})

const tool = createRoute({
  getParentRoute: () => inside,
  path: '/tools/$slug',
  staticData: { title: 'tool' },
  validateSearch: toolSearch,
  component: page(() => import('~/pages/tool-page'), 'tool', 'form', 'result', 'runs'),
})

const runs = createRoute({
  getParentRoute: () => inside,
  path: '/runs',
  staticData: { title: 'runs' },
  validateSearch: runsSearch,
  component: page(() => import('~/pages/runs-page'), 'runs', 'result'),
})

const run = createRoute({
  getParentRoute: () => inside,
  path: '/runs/$id',
  staticData: { title: 'run' },
  component: page(() => import('~/pages/run-page'), 'runs', 'result', 'form', 'cases'),
})

const INBOX_TEXTS = ['approvals', 'answers', 'library', 'result', 'runs', 'server']

const approvals = createRoute({
  getParentRoute: () => inside,
  path: '/approvals',
  staticData: { title: 'approvals' },
  validateSearch: approvalsSearch,
  component: page(() => import('~/pages/approvals-page'), ...INBOX_TEXTS, 'form'),
})

const approval = createRoute({
  getParentRoute: () => inside,
  path: '/approvals/$id',
  staticData: { title: 'approval' },
  component: page(() => import('~/pages/approval-page'), ...INBOX_TEXTS, 'form'),
})

const answers = createRoute({
  getParentRoute: () => inside,
  path: '/approvals/answers',
  staticData: { title: 'answers' },
  component: page(() => import('~/pages/answers-page'), ...INBOX_TEXTS, 'form'),
})

const standing = createRoute({
  getParentRoute: () => inside,
  path: '/approvals/standing',
  staticData: { title: 'standing' },
  validateSearch: standingSearch,
  component: page(() => import('~/pages/standing-page'), ...INBOX_TEXTS, 'form'),
})

const answer = createRoute({
  getParentRoute: () => inside,
  path: '/approvals/answers/$id',
  staticData: { title: 'answer' },
  component: page(() => import('~/pages/answer-page'), ...INBOX_TEXTS, 'form'),
})

const toolsAdmin = createRoute({
  getParentRoute: () => inside,
  path: '/admin/tools',
  staticData: { title: 'admin_tools' },
  validateSearch: toolsAdminSearch,
  component: page(
    () => import('~/pages/tools-admin-page'),
    'admin',
    'kinds',
    'cases',
    'publish',
    'server',
  ),
})

const EDITOR_TEXTS = ['admin', 'kinds', 'cases', 'publish', 'form', 'result', 'runs', 'server']

const toolNew = createRoute({
  getParentRoute: () => inside,
  path: '/admin/tools/new',
  staticData: { title: 'tool_new' },
  validateSearch: toolEditorSearch,
  component: page(() => import('~/pages/tool-new-page'), ...EDITOR_TEXTS),
})

const toolEdit = createRoute({
  getParentRoute: () => inside,
  path: '/admin/tools/$slug/edit',
  staticData: { title: 'tool_edit' },
  validateSearch: toolEditorSearch,
  component: page(() => import('~/pages/tool-edit-page'), ...EDITOR_TEXTS, 'tool'),
})

const CREDENTIAL_TEXTS = ['credentials', 'admin', 'server']

const credentials = createRoute({
  getParentRoute: () => inside,
  path: '/admin/credentials',
  staticData: { title: 'credentials' },
  validateSearch: credentialsSearch,
  component: page(() => import('~/pages/credentials-page'), ...CREDENTIAL_TEXTS),
})

const credentialNew = createRoute({
  getParentRoute: () => inside,
  path: '/admin/credentials/new',
  staticData: { title: 'credential_new' },
  component: page(() => import('~/pages/credential-new-page'), ...CREDENTIAL_TEXTS),
})

const credential = createRoute({
  getParentRoute: () => inside,
  path: '/admin/credentials/$id',
  staticData: { title: 'credential' },
  component: page(() => import('~/pages/credential-page'), ...CREDENTIAL_TEXTS),
})

const SERVER_TEXTS = ['mcp-servers', 'credentials', 'admin', 'server']

const mcpServers = createRoute({
  getParentRoute: () => inside,
  path: '/admin/mcp-servers',
  staticData: { title: 'mcp_servers' },
  component: page(() => import('~/pages/mcp-servers-page'), ...SERVER_TEXTS),
})

const mcpServer = createRoute({
  getParentRoute: () => inside,
  path: '/admin/mcp-servers/$id',
  staticData: { title: 'mcp_server' },
  component: page(() => import('~/pages/mcp-server-page'), ...SERVER_TEXTS),
})

/** Where sign-in pages of others send people back to. */
const mcpCallback = createRoute({
  getParentRoute: () => inside,
  path: '/mcp-servers/callback',
  staticData: { title: 'mcp_callback' },
  validateSearch: callbackSearch,
  component: page(() => import('~/pages/mcp-callback-page'), ...SERVER_TEXTS),
})

const WEBHOOK_TEXTS = ['webhooks', 'admin', 'server']

const webhooks = createRoute({
  getParentRoute: () => inside,
  path: '/admin/webhooks',
  staticData: { title: 'webhooks' },
  component: page(() => import('~/pages/webhooks-page'), ...WEBHOOK_TEXTS),
})

const webhook = createRoute({
  getParentRoute: () => inside,
  path: '/admin/webhooks/$id',
  staticData: { title: 'webhook' },
  component: page(() => import('~/pages/webhook-page'), ...WEBHOOK_TEXTS),
})

/** Whatever is no page. */
const missing = createRoute({
  getParentRoute: () => inside,
  path: '$',
  staticData: { title: 'missing' },
  component: PageMissing,
})

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    apiDocs,
    open.addChildren([docs, doc, apiReference, operation]),
    inside.addChildren([
      home,
      library,
      tool,
      runs,
      run,
      approvals,
      approval,
      answers,
      standing,
      answer,
      toolsAdmin,
      toolNew,
      toolEdit,
      credentials,
      credentialNew,
      credential,
      mcpServers,
      mcpServer,
      mcpCallback,
      webhooks,
      webhook,
      missing,
    ]),
  ]),
  parseSearch: parseSearchWith(parse),
  stringifySearch: stringifySearchWith(stringify, parse),
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingComponent: PageLoading,
  defaultErrorComponent: PageFault,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
  interface StaticDataRouteOption {
    /** Which text names the page in the title of the window. */
    title?: string
  }
  interface HistoryState {
    /** Whether somebody comes from a thing that they have just removed. */
    isRemoved?: boolean
  }
}
