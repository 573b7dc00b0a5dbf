import { notFound } from 'next/navigation'

/** Any other address of the workspace: so that what says so stands inside the rail. */
export default function Nowhere() {
  notFound()
}
