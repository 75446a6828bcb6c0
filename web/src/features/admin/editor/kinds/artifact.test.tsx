import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'

// The client takes hold of `fetch` when it is made.
const server = vi.fn<(request: Request) => Promise<Response>>()
vi.stubGlobal('fetch', server)
const { renderInEditor } = await import('../in-editor')
const { default: ArtifactPanel } = await import('./artifact')

let scripts: object[]

beforeEach(() => {
  scripts = []
  server.mockImplementation(async ({ url }) => {
    if (url.endsWith('/used-by')) return Response.json({ items: [{ slug: 'sum.up' }] })
    if (url.endsWith('/a-1')) return Response.json(scripts[0])
    return Response.json({ items: scripts, next_cursor: null, total: scripts.length })
  })
})

test('a saved script is taken over with its version', async () => {
  const user = userEvent.setup()
  const source = 'export default () => 3\n'
  const read = { id: 'a-1', name: 'Sums', version: 3, language: 'typescript', source }
  scripts = [read]
  const saved = { implementation_type: 'artifact', implementation: {} }
  const { now } = renderInEditor(<ArtifactPanel />, saved)
  await user.selectOptions(await screen.findByLabelText('Saved script'), 'Sums (newest: version 3)')
  expect(await screen.findByText('Tools that run it: sum.up')).toBeInTheDocument()
  const artifact = { artifact_id: 'a-1', artifact_version: 3, language: 'typescript', source }
  expect(now().definition.implementation).toEqual(artifact)
})

test('the language is chosen beside the source', async () => {
  const user = userEvent.setup()
  const source = 'export default () => {\n  return 1 +\n}\n'
  const saved = {
    implementation_type: 'artifact',
    implementation: { language: 'javascript', source },
  }
  const { now } = renderInEditor(<ArtifactPanel />, saved)
  const text = await screen.findByRole('textbox', { name: 'Source' })
  expect(text).toHaveTextContent('return 1 +')
  await user.selectOptions(screen.getByLabelText('Language'), 'TypeScript')
  expect(now().definition.implementation).toEqual({ language: 'typescript', source })
  expect(now().isDirty).toBe(true)
})
