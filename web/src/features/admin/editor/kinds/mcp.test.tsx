import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'

import { renderInEditor } from '../in-editor'
import McpPanel from './mcp'

test('a server has an address or a name', async () => {
  const user = userEvent.setup()
  const { now } = renderInEditor(<McpPanel />, { implementation_type: 'mcp', implementation: {} })
  await user.type(screen.getByLabelText('Tool on the server'), 'add')
  await user.type(screen.getByLabelText('Server address'), 'https://h.test/mcp')
  expect(now().definition.implementation).toEqual({
    server_url: 'https://h.test/mcp',
    tool_name: 'add',
  })
  expect(screen.queryByLabelText('Server name')).not.toBeInTheDocument()
  await user.clear(screen.getByLabelText('Server address'))
  await user.type(screen.getByLabelText('Server name'), 'garden')
  expect(now().definition.implementation).toEqual({ server: 'garden', tool_name: 'add' })
  expect(screen.queryByLabelText('Server address')).not.toBeInTheDocument()
  expect(screen.queryByText('Headers')).not.toBeInTheDocument()
})

test('a header takes no input, because every call goes to the server in the same way', () => {
  renderInEditor(<McpPanel />, {
    implementation_type: 'mcp',
    implementation: { server_url: 'https://h.test/', tool_name: 'a', headers: { 'X-Key': '***' } },
    input_schema: { type: 'object', properties: { city: { type: 'string' } } },
  })
  expect(screen.getByLabelText('Value of header 1')).toHaveValue('***')
  expect(screen.queryByRole('button', { name: /insert/i })).not.toBeInTheDocument()
})
