import { useQuery } from '@tanstack/react-query'
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'

// The client takes hold of `fetch` when it is made.
const server = vi.fn<(request: Request) => Promise<Response>>()
vi.stubGlobal('fetch', server)
const { renderInEditor } = await import('../in-editor')
const { credentials } = await import('../../credentials/queries')
const { HostHint } = await import('./host-hint')

const KEY = { id: 'c-1', label: 'weather', type: 'api_key', fields: ['api_key'], revision: 1 }
const WRITER = ['credentials.tenant.read', 'credentials.tenant.write']

let stored: object
let users: object[]
let sent: unknown[]

beforeEach(() => {
  stored = { ...KEY, allowed_hosts: null }
  users = []
  sent = []
  server.mockImplementation(async (request) => {
    const { pathname } = new URL(request.url)
    if (request.method === 'PATCH') {
      const said = await request.json()
      sent.push(said)
      stored = { ...stored, ...said }
    }
    if (pathname === '/api/credentials') return Response.json({ items: [stored] })
    if (pathname.endsWith('/used-by')) return Response.json({ items: users })
    return Response.json(stored)
  })
})

function Header() {
  const { data = [] } = useQuery(credentials)
  return data.map((one) => (
    <div key={one.id}>
      <input id="value" aria-label="Value" />
      <HostHint credential={one} returnTo="value" />
    </div>
  ))
}

async function show(url: string, permissions = WRITER) {
  const saved = { implementation_type: 'http', implementation: { url } }
  const { client } = renderInEditor(<Header />, saved, permissions)
  await client.resetQueries({ queryKey: ['admin'] })
  await screen.findByLabelText('Value')
}

test('a credential that goes everywhere is bound to the host of the tool by one button', async () => {
  const user = userEvent.setup()
  await show('https://api.example.com/v1/{{ input.city }}')
  await user.click(screen.getByRole('button', { name: 'Allow only api.example.com' }))
  expect(sent).toEqual([{ allowed_hosts: ['api.example.com'] }])
  await vi.waitFor(() => expect(screen.queryByText(/every host/)).toBeNull())
  await vi.waitFor(() => expect(screen.getByLabelText('Value')).toHaveFocus())
})

test('whoever would bind it for other tools as well is told which', async () => {
  users = [
    { slug: 'mine', name: 'Mine' },
    { slug: 'other', name: 'Another' },
  ]
  const user = userEvent.setup()
  await show('https://api.example.com/')
  await user.click(screen.getByRole('button', { name: 'Allow only api.example.com' }))
  await screen.findByText(/These tools use it too .*: Another$/)
  expect(sent).toEqual([])
  await user.click(screen.getByRole('button', { name: 'Allow only api.example.com anyway' }))
  expect(sent).toEqual([{ allowed_hosts: ['api.example.com'] }])
})

test('whoever may not change credentials is only told', async () => {
  await show('https://api.example.com/', ['credentials.tenant.read'])
  expect(screen.getByText('“weather” may be sent to any host.')).toBeInTheDocument()
  expect(screen.queryByRole('button', { name: /Allow only/ })).toBeNull()
})

test.each([
  ['the host is known only when it runs', 'https://{{ input.host }}/', null],
  ['it is bound already', 'https://api.example.com/', ['api.example.com']],
])('nothing is offered while %s', async (_, url, allowed_hosts) => {
  stored = { ...KEY, allowed_hosts }
  await show(url)
  expect(screen.queryByText(/every host/)).toBeNull()
})
