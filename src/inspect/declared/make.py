#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a small file of debug information that knows what the system's headers declare.

    make.py OUTPUT HEADERS BUILTINS OBJCOPY WORK CC...

There is no list of functions. Headers are preprocessed, each declaration of a
function that is found in them is made a definition with an empty body,

    extern int open (const char *__file, int __oflag, ...) __attribute__ (...);
    int open ( const char * __file , int __oflag , ... ) { __builtin_trap(); }

the compiler describes those as it does all functions, and everything but
symbols and debug information is left out of the result. So names of parameters
are there, symbols that are not called as the source calls them
(__isoc99_scanf), and all types.

What a compiler can't compile is left out, and so are headers that it can't
read. The same headers and compiler make the same file.
"""
import os
import re
import subprocess
import sys

TOKEN = re.compile(r'''"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|\.?\d[\w.]*|\.\.\.|\S''')
DROPPED = {'__extension__', 'extern', '_Noreturn', '__inline', '__inline__', 'inline'}
WITH_BRACKETS = {'__attribute__', '__attribute', '__asm__', 'asm', '__asm'}
NO_NAMES = {'__typeof__', '__typeof', 'typeof', '_Alignas', '_Static_assert', 'void', 'int'}
FLAGS = ['-std=gnu17', '-w', '-fno-builtin', '-D_GNU_SOURCE']
COMPILED = ['-g', '-gdwarf-4', '-O0', '-fPIC', '-fno-asynchronous-unwind-tables', '-fno-unwind-tables',
            '-fno-stack-protector', '-fcf-protection=none', '-gno-record-gcc-switches',
            '-fno-lto', '-ffile-prefix-map=%s=.']
# gcc describes these without members. A value of one is passed as its first member is.
TRANSPARENT = re.compile(r'''\btypedef\s+union\s*\{\s*([^;{}]*?)\b\w+\s*;[^{}]*\}\s*(\w+)\s*
                             __attribute__\s*\(\(\s*(?:__)?transparent_union(?:__)?\s*\)\)\s*;''', re.X)


def closing(tokens, at):
    """Index behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += tokens[i] in '([{' if len(tokens[i]) == 1 else 0
        depth -= tokens[i] in ')]}' if len(tokens[i]) == 1 else 0
        if not depth:
            return i + 1
    return len(tokens)


def without_attributes(tokens):
    """A declaration without what a definition may not have; and its symbol's name."""
    out, symbol, i = [], None, 0
    while i < len(tokens):
        t = tokens[i]
        if t in WITH_BRACKETS and i + 1 < len(tokens) and tokens[i + 1] == '(':
            end = closing(tokens, i + 1)
            if 'asm' in t:
                symbol = ''.join(x[1:-1] for x in tokens[i + 2:end - 1] if x[0] == '"')
            i = end
            continue
        if t not in DROPPED:
            out.append(t)
        i += 1
    return out, symbol


def declarations(text):
    """(name, symbol, declarator) of each function that is declared at the outermost level."""
    tokens = TOKEN.findall(text)
    start = i = 0
    while i < len(tokens):
        if tokens[i] == '{':
            body = tokens[i - 1] == ')' and without_attributes(tokens[start:i])[0][-1:] == [')']
            i = closing(tokens, i)
            if body:
                start = i
            continue
        if tokens[i] in ('(', '['):
            i = closing(tokens, i)
            continue
        if tokens[i] == ';':
            yield from function_of(tokens[start:i])
            start = i + 1
        i += 1


def function_of(tokens):
    if 'typedef' in tokens or 'static' in tokens or '=' in tokens or '{' in tokens:
        return
    tokens, symbol = without_attributes(tokens)
    if '(' not in tokens or tokens[-1] != ')':
        return
    at = tokens.index('(')
    if at < 2 or closing(tokens, at) != len(tokens) or tokens[at - 1] in NO_NAMES:
        return
    if re.fullmatch(r'[A-Za-z_]\w*', tokens[at - 1]):
        yield tokens[at - 1], symbol or tokens[at - 1], ' '.join(tokens)


def by_symbol(text, known):
    """symbol -> declarator of those that are not known yet. What is declared again under another
    symbol has that one; of two names for one symbol the symbol's own counts."""
    names = {}
    for name, symbol, declaration in declarations(text):
        if name not in names or symbol != name:
            names[name] = symbol, declaration
    found = {}
    for name, (symbol, declaration) in names.items():
        if symbol not in known and (name == symbol or names.get(symbol, ('',))[0] != symbol):
            found.setdefault(symbol, declaration)
    return found


class Compiler:
    def __init__(self, command, work, include):
        self.command, self.work, self.include = command, work, include

    def run(self, *arguments):
        return subprocess.run([*self.command, *FLAGS, *arguments], capture_output=True, text=True,
                              env={**os.environ, 'LC_ALL': 'C'}, cwd=self.work, check=False)

    def preprocess(self, headers, *flags):
        source = os.path.join(self.work, 'include.c')
        with open(source, 'w', encoding='utf-8') as f:
            for header in headers:
                f.write(f'#if __has_include(<{header}>)\n#include <{header}>\n#endif\n')
            if flags:
                f.write(f'#include "{self.include}"\n')
        result = self.run(*flags, '-E', '-P', source)
        return TRANSPARENT.sub(r'typedef \1 \2;', result.stdout) if not result.returncode else None

    def compile(self, text, functions, number):
        """An object file with what compiles of `functions`; or None."""
        head = text.count('\n') + 1
        name = f'declared{number}'
        for _ in range(8):
            with open(os.path.join(self.work, name + '.c'), 'w', encoding='utf-8') as f:
                f.write(text + '\n')
                f.writelines(d + ' { __builtin_trap(); }\n' for d in functions)
            flags = [x.replace('%s', self.work) for x in COMPILED]
            result = self.run(*flags, '-c', name + '.c', '-o', name + '.o')
            if not result.returncode:
                return name + '.o'
            bad = {int(n) - 1 - head for n in re.findall(name + r'\.c:(\d+):\d+: error', result.stderr)}
            if not bad or min(bad) < 0:
                return None
            functions = [d for i, d in enumerate(functions) if i not in bad]
        return None


def groups(path):
    """(checked, headers) of those that are compiled together."""
    with open(path, encoding='utf-8') as f:
        lines = [x.split('#')[0].split() for x in f]
    checked, block = False, []
    for line in lines:
        if line == ['checked']:
            checked = True
        elif checked and line:
            block += line
        elif checked:
            yield True, block
            checked, block = False, []
        elif line:
            yield False, line


def compile_all(compiler, headers):
    """Object files."""
    known, objects = set(), []
    for checked, block in groups(headers):
        for flags in [[], ['-O1', '-D_FORTIFY_SOURCE=2']][:1 + checked]:
            text = compiler.preprocess(block, *flags)
            found = by_symbol(text or '', known)
            made = found and compiler.compile(text, list(found.values()), len(objects))
            if made:
                objects.append(made)
                known |= found.keys()
            elif found:
                print(f'nothing is known of what <{block[0]}> declares', file=sys.stderr)
    return objects


def main():
    output, headers, builtins, objcopy, work, *command = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    work = os.path.abspath(work)
    compiler = Compiler(command, work, os.path.abspath(builtins))
    linked = compiler.run('-shared', '-nostdlib', '-Wl,--build-id=none', '-Wl,-Bsymbolic',
                          *compile_all(compiler, headers), '-o', 'linked')
    if linked.returncode:
        sys.exit(linked.stderr)
    dropped = ['.debug_line', '.debug_aranges', '.debug_frame', '.comment']
    subprocess.run([objcopy, '--only-keep-debug', '--compress-debug-sections=zlib',
                    *('--remove-section=' + x for x in dropped), os.path.join(work, 'linked'),
                    output], check=True)
    os.chmod(output, 0o644)


main()
