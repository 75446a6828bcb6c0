import { render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { Component, type ReactNode } from 'react'

import { lazyPart } from './lazy-part'

const load = vi.fn<() => Promise<{ default: (props: { name: string }) => ReactNode }>>()
const came = { default: ({ name }: { name: string }) => <p>here: {name}</p> }
const failed = new TypeError('Failed to fetch dynamically imported module: /assets/a.js')

const again = () => screen.findByRole('button', { name: 'Try again' })
const reload = () => screen.findByRole('button', { name: 'Reload the page' })

beforeEach(() => {
  load.mockReset()
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  vi.stubGlobal('fetch', async () => new Response('<script src="/assets/index-a.js"></script>'))
})

test('a part that does not come leaves the rest, and can be tried again', async () => {
  load.mockRejectedValueOnce(failed).mockRejectedValueOnce(failed).mockResolvedValueOnce(came)
  const Part = lazyPart(load, (module) => module.default)
  render(
    <>
      <input aria-label="beside" defaultValue="typed" />
      <Part fallback="coming" name="a" />
    </>,
  )
  expect(screen.getByText('coming')).toBeInTheDocument()
  await userEvent.click(await again())
  // Where trying does not help, the page can be loaded anew.
  await reload()
  await userEvent.click(await again())
  expect(await screen.findByText('here: a')).toBeInTheDocument()
  expect(screen.getByLabelText('beside')).toHaveValue('typed')
  expect(load).toHaveBeenCalledTimes(3)
})

test('whoever comes after a failure gets another try of their own', async () => {
  load.mockRejectedValueOnce(failed).mockResolvedValueOnce(came)
  const Part = lazyPart(load, (module) => module.default)
  const { unmount } = render(<Part name="a" />)
  await again()
  unmount()
  render(<Part name="b" />)
  expect(await screen.findByText('here: b')).toBeInTheDocument()
})

test('another version of the app is not tried again but loaded', async () => {
  // In a template it is only read.
  document.head.innerHTML = '<template><script src="/assets/index-b.js"></script></template>'
  load.mockRejectedValue(failed)
  const Part = lazyPart(load, (module) => module.default)
  render(<Part name="a" />)
  await reload()
  expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull()
  document.head.innerHTML = ''
})

class Around extends Component<{ children: ReactNode }, { told?: string }> {
  override state: { told?: string } = {}
  static getDerivedStateFromError = ({ message }: Error) => ({ told: message })
  override render = () => this.state.told ?? this.props.children
}

test('a fault inside of a part is for whoever is around it', async () => {
  load.mockResolvedValue({
    default: () => {
      throw new Error('x is undefined')
    },
  })
  const Part = lazyPart(load, (module) => module.default)
  render(
    <Around>
      <Part name="a" />
    </Around>,
  )
  expect(await screen.findByText('x is undefined')).toBeInTheDocument()
  expect(screen.queryByRole('alert')).toBeNull()
})
