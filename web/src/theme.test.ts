export {}

let turn: (event: { matches: boolean }) => void
const system = { matches: false, addEventListener: (_: string, act: typeof turn) => (turn = act) }
vi.stubGlobal('matchMedia', () => system)
const { followSystem, showTheme } = await import('./theme')

test('the page turns dark with the system, unless somebody has chosen a theme', () => {
  const isDark = () => document.documentElement.classList.contains('dark')
  showTheme('system')
  followSystem()
  turn({ matches: true })
  expect(isDark()).toBe(true)
  turn({ matches: false })
  expect(isDark()).toBe(false)
  showTheme('light')
  turn({ matches: true })
  expect(isDark()).toBe(false)
  localStorage.removeItem('theme')
})
