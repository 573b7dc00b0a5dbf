/** A member as the list of members shows them. */
export interface Member {
  userId: string
  email: string
  name: string
  role: string
  createdAt: string
  lastSeenAt: string | null
}
