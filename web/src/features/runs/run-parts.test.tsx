import { QueryClient } from '@tanstack/react-query'
import { screen } from '@testing-library/react'

import { treeOf } from '~/api/run-tree'
import { type Run, runOf } from '~/api/runs'
import { RunWaiting } from '~/features/result/run-waiting'
import { AskFacts } from '~/kit/ask-facts'
import { ME, showPage, signIn } from '~/test-page'
import { RunHead } from './run-head'
import { RunsList } from './runs-list'

const RUN: Run = {
  run_id: 'r-1',
  session_id: 'r-1',
  tool: 'ask',
  version: '1.0.0',
  status: 'success',
  mode: 'production',
  source: 'web',
  channel: 'web',
  actor: { kind: 'user', id: ME },
  input: {},
  output: {},
  logs: [],
  requested_at: '2026-11-16T00:00:00Z',
  started_at: '2026-11-16T00:00:00Z',
  finished_at: '2026-11-16T00:00:01Z',
}

const WAITING: Run = {
  ...RUN,
  status: 'pending',
  finished_at: null,
  pending_tool_call: {
    id: 'c-1',
    status: 'waiting',
    waits_for: 'person',
    expires_at: '2999-11-16T00:00:00Z',
  },
}

function queriesOf(...permissions: string[]) {
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } })
  signIn(queries, permissions)
  return queries
}

test.each([
  ['may run tools', ['tools.tenant.run'], 1],
  ['may only look', ['runs.tenant.read'], 0],
])('whoever %s is offered to run it again as often as they may', async (_, permissions, count) => {
  await showPage(queriesOf(...permissions), <RunHead run={RUN} />)
  await screen.findByRole('heading', { level: 1 })
  expect(screen.queryAllByRole('link', { name: 'Run again with changes' })).toHaveLength(count)
})

test.each([
  [false, 'Answer', null],
  [true, 'Answer (opens a new tab)', '_blank'],
])('with a new tab: %s, the way to answer is “%s”', async (newTab, name, target) => {
  const queries = queriesOf('tools.tenant.run')
  queries.setQueryData(runOf('r-1').queryKey, WAITING)
  queries.setQueryData(treeOf(WAITING).queryKey, [])
  await showPage(queries, <RunWaiting id="r-1" newTab={newTab} />)
  const link = await screen.findByRole('link', { name })
  expect(link.getAttribute('target')).toBe(target)
  expect(link).toHaveAttribute('href', '/approvals/answers/c-1')
})

test('a run inside of another one is marked in the list', async () => {
  const inside = { ...RUN, run_id: 'r-2', tool: 'inner', parent_run_id: 'r-1' }
  const list = <RunsList runs={[RUN, inside]} fresh={new Set()} box={{ current: null }} />
  await showPage(queriesOf(), list)
  await screen.findByRole('link', { name: 'inner' })
  expect(screen.getAllByText('Part of another run')).toHaveLength(1)
})

test('what a chain asks names the chain', async () => {
  const queries = queriesOf('runs.tenant.read')
  queries.setQueryData(runOf('r-2').queryKey, { ...RUN, run_id: 'r-2', parent_run_id: 'r-1' })
  queries.setQueryData(runOf('r-1').queryKey, { ...RUN, tool: 'trip.plan' })
  const ask = {
    id: 'a-1',
    run_id: 'r-2',
    tool: 'ask',
    version: '1.0.0',
    requested_by: 'agent:bot',
    requested_at: RUN.requested_at,
    expires_at: RUN.requested_at,
  }
  await showPage(queries, <AskFacts ask={ask} isOpen idLabel="Id" copyLabel="Copy" />)
  const chain = await screen.findByRole('link', { name: 'trip.plan' })
  expect(chain).toHaveAttribute('href', '/runs/r-1')
  expect(screen.getByText('Step of')).toBeInTheDocument()
})
