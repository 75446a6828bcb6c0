import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'

import { renderInEditor } from '../in-editor'
import PromptPanel from './prompt'
import { models } from './queries'

const MODELS = [
  { name: 'default', provider: 'openai', model: 'gpt-5-mini', price: null, available: true },
  { name: 'fast', provider: 'gemini', model: 'flash', price: null, available: false },
]

function show(spec: object) {
  const saved = {
    implementation_type: 'prompt',
    input_schema: { type: 'object', properties: { text: {} } },
    execution_spec: { kind: 'prompt', mode: 'direct', ...spec },
  }
  const { client } = renderInEditor(null, {})
  client.setQueryData(models.queryKey, MODELS as never)
  const { now } = renderInEditor(<PromptPanel />, saved)
  return () => now().definition.execution_spec
}

test('what is typed becomes the spec, and an empty field is not sent', async () => {
  const user = userEvent.setup()
  const spec = show({ system: 'x' })
  await user.type(screen.getByLabelText('Prompt'), 'Summarise')
  await user.clear(screen.getByLabelText('Instructions'))
  await user.selectOptions(screen.getByLabelText('Answer'), 'JSON')
  await user.type(screen.getByLabelText('Longest answer'), '200')
  expect(spec()).toEqual({
    kind: 'prompt',
    mode: 'direct',
    prompt_template: 'Summarise',
    output: 'json',
    max_output_tokens: 200,
  })
})

test('a model without a key, and one that is not there, say so', async () => {
  const user = userEvent.setup()
  const spec = show({ model: 'gone' })
  const model = screen.getByLabelText('Model')
  expect(model).toHaveAccessibleDescription(/no model “gone”/)
  await user.selectOptions(model, 'fast')
  expect(spec()?.model).toBe('fast')
  expect(model).toHaveAccessibleDescription(/no key for flash/)
})
