/** Calls of the editor, also in one request with others. */
export const LOADS = /trpc\/[^?]*workflows\.get[,?]/
export const SAVES = /trpc\/[^?]*workflows\.save/
