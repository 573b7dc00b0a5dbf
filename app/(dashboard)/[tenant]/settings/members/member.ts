export interface Member {
  userId: string
  email: string
  name: string
  role: string
  createdAt: string
  lastSeenAt: string | null
}
