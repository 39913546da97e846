/** An answer of the sign-in service before anybody has judged it. */
export interface RawAnswer {
  status: number;
  body: string;
}
