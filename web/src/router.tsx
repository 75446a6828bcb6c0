import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'

import { queryClient } from '~/api/client'
import { me } from '~/api/me'
import { Problem } from '~/api/problem'
import { toolEditorSearch, toolsAdminSearch } from '~/features/admin/search'
import { approvalsSearch } from '~/features/approvals/search'
import { runsSearch } from '~/features/runs/search'
import { signInSearch } from '~/features/sign-in/search'
import { librarySearch, toolSearch } from '~/features/tools/search'
import { PageFault, PageLoading, PageMissing, Shell } from '~/shell/shell'

const root = createRootRoute()

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: signInSearch,
  component: lazyRouteComponent(() => import('~/pages/sign-in-page')),
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
  validateSearch: librarySearch,
  component: lazyRouteComponent(() => import('~/pages/library-page')),
})

const tool = createRoute({
  getParentRoute: () => inside,
  path: '/tools/$slug',
  validateSearch: toolSearch,
  component: lazyRouteComponent(() => import('~/pages/tool-page')),
})

const runs = createRoute({
  getParentRoute: () => inside,
  path: '/runs',
  validateSearch: runsSearch,
  component: lazyRouteComponent(() => import('~/pages/runs-page')),
})

const run = createRoute({
  getParentRoute: () => inside,
  path: '/runs/$id',
  component: lazyRouteComponent(() => import('~/pages/run-page')),
})

const approvals = createRoute({
  getParentRoute: () => inside,
  path: '/approvals',
  validateSearch: approvalsSearch,
  component: lazyRouteComponent(() => import('~/pages/approvals-page')),
})

const approval = createRoute({
  getParentRoute: () => inside,
  path: '/approvals/$id',
  component: lazyRouteComponent(() => import('~/pages/approval-page')),
})

const toolsAdmin = createRoute({
  getParentRoute: () => inside,
  path: '/admin/tools',
  validateSearch: toolsAdminSearch,
  component: lazyRouteComponent(() => import('~/pages/tools-admin-page')),
})

const toolNew = createRoute({
  getParentRoute: () => inside,
  path: '/admin/tools/new',
  validateSearch: toolEditorSearch,
  component: lazyRouteComponent(() => import('~/pages/tool-new-page')),
})

const toolEdit = createRoute({
  getParentRoute: () => inside,
  path: '/admin/tools/$slug/edit',
  validateSearch: toolEditorSearch,
  component: lazyRouteComponent(() => import('~/pages/tool-edit-page')),
})

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    inside.addChildren([
      home,
      library,
      tool,
      runs,
      run,
      approvals,
      approval,
      toolsAdmin,
      toolNew,
      toolEdit,
    ]),
  ]),
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingComponent: PageLoading,
  defaultErrorComponent: PageFault,
  defaultNotFoundComponent: PageMissing,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
