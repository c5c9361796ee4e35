import fc from "fast-check";
import { expect, it } from "vitest";
import { isMailAddress, parseSender, parseSmtpUrl } from "./smtp-url.ts";

it("a mail server is read with its standard port, and whether TLS comes first", () => {
  expect(parseSmtpUrl("smtps://ada%40x:p%2Fw@mail.test-site.org")).toEqual({
    ...{ host: "mail.test-site.org", port: 465, isTls: true, user: "ada@x", password: "p/w" },
  });
  expect(parseSmtpUrl("smtp://[::1]:2525/")).toEqual({
    host: "::1",
    port: 2525,
    isTls: false,
    user: null,
    password: "",
  });
  expect(parseSmtpUrl("smtp://mail.test-site.org")).toMatchObject({ port: 587 });
  for (const bad of [
    "mail.test-site.org",
    "http://mail",
    "smtp://",
    "smtp://mail/x",
    "smtp://mail?x",
    "smtp://%zz:x@mail",
  ]) {
    expect(parseSmtpUrl(bad)).toBeUndefined();
  }
});

it("a sender is an address, with a name or without", () => {
  expect(parseSender(" a@b.test ")).toEqual({ name: "", address: "a@b.test" });
  expect(parseSender("Sonde, at work <a@b.test>")).toEqual({ name: "Sonde, at work", address: "a@b.test" });
  for (const bad of ["", "a", "a@", "@b", "a b@c", "<a@b>", "x <a@b", "x <a@b>\r\nBcc: <c@d>", `${"x".repeat(65)}@b`]) {
    expect(parseSender(bad)).toBeUndefined();
  }
});

it("no text makes a sender or an address with a line end or a bracket in it", () => {
  const piece = fc.oneof(
    fc.constantFrom("@", "<", ">", " ", "\r\n", "a", "b.test", '"', ","),
    fc.string({ maxLength: 5 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join("");
      const found = parseSender(text);
      if (found !== undefined) expect(`${found.name}${found.address}`).not.toMatch(/[\r\n<>"]/);
      if (isMailAddress(text)) expect(text).toMatch(/^[^\s<>,"]+@[^\s<>,"@]+$/);
      parseSmtpUrl(text);
      parseSmtpUrl(`smtp://${text}`);
    }),
    { numRuns: 200 },
  );
});
