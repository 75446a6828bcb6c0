/** One thing that is wrong with a body, and where. */
export interface Fault {
  path: string
  /** Which rule is broken; none where this page found it by itself. */
  code?: string
  /** The values in the message. */
  params?: Record<string, unknown>
  message: string
}

/** What the server answers when it does not do what it was asked: RFC 9457, plus a code. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly errors: Fault[] = [],
    readonly requestId?: string,
    /** The values in the detail. */
    readonly params: Record<string, unknown> = {},
    /** Everything that the answer holds, such as what a refused publication would break. */
    readonly members: Record<string, unknown> = {},
  ) {
    super(detail)
    this.name = 'Problem'
  }

  static async of(response: Response): Promise<Problem> {
    const text = await response.text()
    try {
      const members = JSON.parse(text)
      const { code, detail, title, errors, request_id, params } = members
      const why = detail ?? title
      return new Problem(response.status, code, why, errors, request_id, params, members)
    } catch {
      // A proxy in between answers in its own words.
      return new Problem(response.status, 'UNKNOWN', text.slice(0, 200) || response.statusText)
    }
  }

  static unreachable(cause: unknown): Problem {
    return new Problem(0, 'UNREACHABLE', cause instanceof Error ? cause.message : String(cause))
  }
}
