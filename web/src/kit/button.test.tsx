import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'

import { Button } from './button'

function Sending({ onSend }: { onSend: () => void }) {
  const [busy, setBusy] = useState(false)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSend()
        setBusy(true)
      }}
    >
      <input aria-label="Name" />
      <Button type="submit" disabled={busy}>
        Send
      </Button>
    </form>
  )
}

test('a button that becomes busy keeps the focus, and sends nothing twice', async () => {
  const user = userEvent.setup()
  const sent = vi.fn()
  render(<Sending onSend={sent} />)
  const button = screen.getByRole('button', { name: 'Send' })
  await user.click(button)
  expect(button).toHaveFocus()
  expect(button).toHaveAttribute('aria-disabled', 'true')
  await user.click(button)
  await user.keyboard('{Enter}')
  await user.type(screen.getByLabelText('Name'), 'x{Enter}')
  expect(sent).toHaveBeenCalledTimes(1)
})

test('a press of a button that is shut does not reach what it lies in', async () => {
  const user = userEvent.setup()
  const [pressed, heard] = [vi.fn(), vi.fn()]
  render(
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions
    <div onClick={heard}>
      <Button disabled onClick={pressed}>
        Shut
      </Button>
      <Button onClick={pressed}>Open</Button>
    </div>,
  )
  await user.click(screen.getByRole('button', { name: 'Shut' }))
  expect([pressed.mock.calls.length, heard.mock.calls.length]).toEqual([0, 0])
  await user.click(screen.getByRole('button', { name: 'Open' }))
  expect([pressed.mock.calls.length, heard.mock.calls.length]).toEqual([1, 1])
})
